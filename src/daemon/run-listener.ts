// The API for the time of a command: agents that hand over by HTTP find it although no daemon runs. It listens on loopback at any free
// port, with the daemon's own guards; an agent has the token of its attempt, which ends with it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Performer } from "../compose.ts";
import { startDemo } from "../demo/start.ts";
import { openServer, type ServerOptions } from "../http/open-server.ts";
import { shippedDir } from "../settings/site.ts";

export type RunListener = { close(): Promise<void> };

export async function openRunListener(
  passrail: Performer,
  options: Omit<ServerOptions, "demo" | "version" | "with">,
): Promise<RunListener> {
  const { app, home, store } = passrail;
  const { version } = JSON.parse(readFileSync(join(shippedDir, "package.json"), "utf8")) as { version: string };
  const server = await openServer(passrail, {
    ...options,
    version,
    demo: (actor) => startDemo({ app, store, home, actor }),
  });
  try {
    passrail.setUrl((await server.listen({ port: 0 })).url);
    return { close: () => server.close() };
  } catch (error) {
    await server.close();
    throw error;
  }
}
