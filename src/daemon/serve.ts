// Opens the server of a daemon and begins to listen.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import type { UseCases } from "../app/use-cases.ts";
import { startDemo } from "../demo/start.ts";
import { openServer, type ServedPassrail, type Server } from "../http/open-server.ts";
import type { Listening } from "../http/server/listen.ts";
import type { DaemonOptions } from "./options.ts";

export type Served = { readonly server: Server; readonly listening: Listening };

export async function serve(
  passrail: ServedPassrail & { readonly app: UseCases },
  options: DaemonOptions,
): Promise<Result<Served>> {
  const { environment, flags, host, hosts, log, port, project, version } = options;
  const { app, home, store } = passrail;
  const server = await openServer(passrail, {
    environment,
    project,
    flags,
    version,
    log: (line) => log.write(line),
    demo: (actor) => startDemo({ app, store, home, actor }),
  });
  try {
    return ok({ server, listening: await server.listen({ port, host, hosts }) });
  } catch (error) {
    await server.close();
    return err(listenProblem(error, options));
  }
}

function listenProblem(error: unknown, { host, port }: DaemonOptions): Problem {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return {
      code: "port_taken",
      message: `Something else listens on ${host}:${port}.`,
      hint: "passrail up --port 0   takes any free port",
    };
  if (code === "EACCES" || code === "EADDRNOTAVAIL")
    return { code: "listen_failed", message: `${host}:${port} cannot be listened on (${code}).` };
  throw error;
}
