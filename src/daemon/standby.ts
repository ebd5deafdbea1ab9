// A daemon beside another one on the same database. It serves the API and the dashboard and delivers signals; it starts no attempts, writes
// no ticket files and sends no notices. When the other one has ended, the caller closes this one and opens a daemon in its place.

import type { Observer } from "../compose.ts";
import { ok, type Result } from "../core/result.ts";
import type { Daemon, DaemonOptions } from "./options.ts";
import { openNodeNotes } from "./node-notes.ts";
import { removeNote, writeNote } from "./note.ts";
import { serve } from "./serve.ts";

const LOOK_MS = 500;

export async function openStandby(
  passrail: Observer & { readonly isFree: () => Promise<boolean> },
  options: DaemonOptions,
): Promise<Result<Daemon>> {
  const { log, project, version } = options;
  const { clock, home, performedBy, store } = passrail;
  const served = await serve({ ...passrail, mirror: null, notifications: null, wakeMerges: () => undefined }, options);
  if (!served.ok) return served;
  const { server, listening, publicUrl } = served.value;
  const { url } = listening;
  const note = { pid: process.pid, url, publicUrl, version, project, startedAt: clock.now(), dispatches: false };
  writeNote(home, { ...note, standbyOf: performedBy });
  log.write(`listening on ${url}, home ${home}, pid ${process.pid}, version ${version}`);
  log.write(`standing by: ${performedBy} performs on the same database`);
  const about = { home, share: store.nodes, settings: passrail.config, version, url, performs: false };
  const nodes = openNodeNotes({ ...about, log: (line) => log.write(line) });
  const watch = watchFor(passrail.isFree, (error) => log.write(`standing by: ${String(error)}`));
  return ok({
    url,
    publicUrl,
    home,
    store,
    app: passrail.app,
    person: passrail.person,
    fenced: new Promise(() => undefined),
    vacant: watch.free,
    newLoginCode: () => server.keys.newLoginCode().token,
    async close() {
      watch.stop();
      nodes.close();
      removeNote(home);
      await server.close();
      await passrail.close();
      log.write("stopped");
    },
  });
}

/** An unreachable database is reported once, and asked again. */
function watchFor(isFree: () => Promise<boolean>, onProblem: (error: unknown) => void) {
  const free = Promise.withResolvers<"vacant">();
  let isTold = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    try {
      if (await isFree()) return free.resolve("vacant");
      isTold = false;
    } catch (error) {
      if (!isTold) onProblem(error);
      isTold = true;
    }
    timer = setTimeout(() => void look(), LOOK_MS).unref();
  };
  timer = setTimeout(() => void look(), LOOK_MS).unref();
  return { free: free.promise, stop: () => clearTimeout(timer) };
}
