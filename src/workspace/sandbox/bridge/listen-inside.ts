// A separate program that Passrail starts in the network of a sandbox: it opens a listener on loopback there for each port, and hands the
// listeners to the program that started it. That program stays in the machine's network, so what connects to them inside is answered outside.

import { createServer } from "node:net";

const ports = process.argv.slice(2).map(Number);

// Nobody waits for it any more.
process.once("disconnect", () => process.exit(0));

for (const port of ports) {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  // From then on only the other one accepts.
  process.send?.({ pid: process.pid, port }, server, {}, () => server.close());
}
