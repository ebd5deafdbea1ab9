// A wire between a worker and its nodes that can be cut: while it is, bytes and new connections vanish without a word, as on a network.

import { connect, createServer, type Socket } from "node:net";

export type CutWire = {
  /** Whether it is a network of the kernel. */
  readonly isNetwork: boolean;
  /** The addresses to join instead, in the same order. */
  readonly urls: readonly string[];
  /** What the program of a node is started with, and what its user has set, so that it is reached over this wire. */
  node(at: number): { readonly args: readonly string[]; readonly settings: Readonly<Record<string, unknown>> };
  /** What the program of the worker behind it is started with. */
  readonly worker: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
  cut(): void;
  mend(): void;
  close(): void;
};

export async function openWire(urls: readonly string[]): Promise<CutWire> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const lost = new Set<Socket>();
  let isCut = false;
  const servers = urls.map((url) =>
    createServer((from) => {
      from.on("error", () => undefined);
      if (isCut) return void lost.add(from);
      const to = connect(Number(new URL(url).port), "127.0.0.1");
      const pair = [from, to] as const;
      pairs.add(pair);
      to.on("error", () => from.destroy());
      from.on("error", () => to.destroy());
      from.on("data", (bytes) => void (isCut || to.write(bytes)));
      to.on("data", (bytes) => void (isCut || from.write(bytes)));
      from.on("close", () => (pairs.delete(pair), isCut || to.destroy()));
      to.on("close", () => void (isCut || from.destroy()));
    }),
  );
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) =>
          server.listen(0, "127.0.0.1", () => {
            const address = server.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          }),
        ),
    ),
  );
  const drop = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    for (const socket of lost) socket.destroy();
    pairs.clear();
    lost.clear();
  };
  const reached = ports.map((port) => `http://127.0.0.1:${port}`);
  return {
    isNetwork: false,
    urls: reached,
    // What comes over the wire names its address, as behind a proxy.
    node: (at) => ({ args: [], settings: { public_url: reached[at] } }),
    worker: { argv: [], env: {} },
    cut: () => void (isCut = true),
    // What was lost on the way stays lost: both ends must notice and begin anew.
    mend() {
      isCut = false;
      drop();
    },
    close() {
      drop();
      for (const server of servers) server.close();
    },
  };
}
