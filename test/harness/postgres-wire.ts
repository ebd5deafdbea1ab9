// The wire between a client and Postgres, which counts round trips and can lose an answer: what was asked reaches the server, and the
// connection breaks before the client hears of it.

import { connect, createServer } from "node:net";

export type Wire = {
  readonly port: number;
  /** Times that the client sent something after the server had answered. */
  requests(): number;
  loseNextAnswer(): void;
  lost(): number;
  close(): void;
};

export async function openWire({ host, port }: { readonly host: string; readonly port: number }): Promise<Wire> {
  const counts = { requests: 0, lost: 0, isLosing: false };
  const server = createServer((client) => {
    const upstream = connect(port, host);
    let isAnswered = true;
    client.on("data", (data) => {
      if (isAnswered) counts.requests += 1;
      isAnswered = false;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      isAnswered = true;
      if (!counts.isLosing) return client.write(data);
      counts.isLosing = false;
      counts.lost += 1;
      upstream.destroy();
      return client.destroy();
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    requests: () => counts.requests,
    loseNextAnswer: () => void (counts.isLosing = true),
    lost: () => counts.lost,
    close: () => void server.close(),
  };
}
