// A door in front of a daemon that can be slammed: the request goes through, and the answer is lost.

import { connect, createServer, type Socket } from "node:net";

export type Front = {
  readonly url: string;
  /** Ends every connection that is open now. */
  cut(): void;
  /** How many connections came. */
  count(): number;
  close(): Promise<void>;
};

/** The first connections, as many as `slams` says, end as soon as the daemon begins to answer. */
export async function openFront(target: string, slams = 0): Promise<Front> {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  let count = 0;
  let own = Buffer.alloc(0);
  const server = createServer((client) => {
    count += 1;
    const daemon = connect(port, "127.0.0.1");
    const isSlammed = count <= slams;
    for (const [one, other] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    // The daemon answers to its own name only.
    const name = Buffer.from(`127.0.0.1:${port}`);
    client.on("data", (chunk) => {
      const at = chunk.indexOf(own);
      daemon.write(at === -1 ? chunk : Buffer.concat([chunk.subarray(0, at), name, chunk.subarray(at + own.length)]));
    });
    if (isSlammed) daemon.once("data", () => client.destroy());
    else daemon.pipe(client);
  });
  const given = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  own = Buffer.from(`127.0.0.1:${given}`);
  return {
    url: `http://127.0.0.1:${given}`,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
