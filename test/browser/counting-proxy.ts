// A proxy that a browser goes through, which counts what comes to it: pages and workers alike, heads and bodies as they are sent.

import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export type CountingProxy = {
  /** For a context's `proxy`; also what is on this machine goes through it. */
  readonly proxy: { readonly server: string; readonly bypass: string };
  readonly bytes: () => number;
  readonly asked: () => readonly string[];
  readonly close: () => void;
};

export async function openCountingProxy(): Promise<CountingProxy> {
  const counted = { bytes: 0, asked: [] as string[] };
  const server = createServer((from, to) => {
    const { hostname, port, pathname, search } = new URL(from.url ?? "");
    counted.asked.push(pathname);
    const through = request({ hostname, port, path: pathname + search, method: from.method, headers: from.headers });
    through.on("response", (answer) => {
      counted.bytes += answer.rawHeaders.reduce((sum, each) => sum + each.length + 2, 20);
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      to.flushHeaders();
      answer.on("data", (part: Buffer) => {
        counted.bytes += part.length;
        to.write(part);
      });
      answer.on("end", () => to.end());
      answer.on("error", () => to.destroy());
    });
    through.on("error", () => to.destroy());
    to.on("close", () => through.destroy());
    from.pipe(through);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    proxy: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bypass: "<-loopback>" },
    bytes: () => counted.bytes,
    asked: () => counted.asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
