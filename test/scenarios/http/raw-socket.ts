// Bytes to a port and bytes back, for requests that no client would send.

import { connect } from "node:net";

export type RawReply = {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  readonly tookMs: number;
};

/** Sends and waits until the other side has closed. `more` is called after the first bytes for a body that does not end. */
export function sendRaw(
  port: number,
  bytes: string,
  more?: (write: (chunk: string) => void) => () => void,
): Promise<RawReply> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let stop = () => {};
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(bytes);
      if (more !== undefined) stop = more((chunk) => void (socket.writable && socket.write(chunk)));
    });
    const finish = () => {
      stop();
      const text = Buffer.concat(chunks).toString("latin1");
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const status = Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(head)?.[1] ?? 0);
      resolve({ status, head: head.toLowerCase(), body: rest.join("\r\n\r\n"), tookMs: performance.now() - started });
    };
    socket.on("data", (chunk) => chunks.push(chunk));
    // Who is cut off in the middle of sending hears of it as a reset; what was answered before counts.
    socket.on("error", () => {});
    socket.on("close", finish);
    socket.setTimeout(15_000, () => {
      stop();
      socket.destroy();
      reject(new Error("the connection stayed open for 15 s"));
    });
  });
}
