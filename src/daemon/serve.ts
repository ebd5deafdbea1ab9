// Opens the server of a daemon and begins to listen: on loopback, and for other machines where the user asks for it.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import type { UseCases } from "../app/use-cases.ts";
import { startDemo } from "../demo/start.ts";
import { openServer, type ServedPassrail, type Server } from "../http/open-server.ts";
import type { Listening } from "../http/server/listen.ts";
import type { Exposure } from "./exposure.ts";
import type { DaemonOptions } from "./options.ts";

export type Served = {
  readonly server: Server;
  readonly listening: Listening;
  /** Where other machines reach it; null: nowhere. */
  readonly publicUrl: string | null;
};

export async function serve(
  passrail: ServedPassrail & { readonly app: UseCases },
  options: DaemonOptions,
): Promise<Result<Served>> {
  const { environment, exposure = null, flags, host, log, port, project, version } = options;
  const { app, config, home, store } = passrail;
  const server = await openServer(passrail, {
    environment,
    project,
    flags,
    version,
    log: (line) => log.write(line),
    demo: (actor) => startDemo({ app, store, home, actor }),
  });
  const publicHost = config.publicUrl === null ? [] : [new URL(config.publicUrl).host];
  const hosts = [...options.hosts, ...publicHost];
  let at: Pick<DaemonOptions, "host" | "port"> = { host, port };
  try {
    const listening = await server.listen({ port, host, hosts });
    if (exposure === null) return ok({ server, listening, publicUrl: config.publicUrl });
    at = exposure;
    const exposed = await expose(server, exposure, hosts);
    return ok({ server, listening, publicUrl: config.publicUrl ?? exposed });
  } catch (error) {
    await server.close();
    return err(listenProblem(error, at));
  }
}

/** The address, by the first name of the certificate. */
async function expose(server: Server, { host, port, tls }: Exposure, hosts: readonly string[]): Promise<string> {
  const { names } = tls.certificate;
  const { port: given, url } = await server.listen({ port, host, hosts, names, tls });
  return names[0] === undefined ? url : new URL(`https://${names[0]}:${given}`).origin;
}

function listenProblem(error: unknown, { host, port }: Pick<DaemonOptions, "host" | "port">): Problem {
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
