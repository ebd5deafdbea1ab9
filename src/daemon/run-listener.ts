// The API for the time of a command: agents that hand over by HTTP find it although no daemon runs. It listens on loopback at any free
// port, with the daemon's own guards; an agent has the token of its attempt, which ends with it.

import type { Performer } from "../compose.ts";
import { startDemo } from "../demo/start.ts";
import { openServer, type ServerOptions } from "../http/open-server.ts";
import { programVersion } from "../settings/version.ts";

export type RunListener = { close(): Promise<void> };

export async function openRunListener(
  passrail: Performer,
  options: Omit<ServerOptions, "demo" | "version" | "with">,
): Promise<RunListener> {
  const { app, home, store } = passrail;
  const server = await openServer(passrail, {
    ...options,
    version: programVersion(),
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
