// The daemon: engine and server, opened and closed together. It takes the lock, opens the store, begins to listen, and only then performs,
// so that the first agent already finds the API.

import { type Performer, openPassrail, requirePerformer } from "../compose.ts";
import { createCommitOf } from "../app/commit-of.ts";
import { openSweep } from "../app/retention/sweep.ts";
import { ok, type Result } from "../core/result.ts";
import type { Dispatcher } from "../ticket/pick/dispatcher.ts";
import { interruptAttempts } from "../ticket/pick/interrupt-attempts.ts";
import { openDispatcher } from "../ticket/pick/open.ts";
import { type OpenedTrigger, openTriggers, readTriggers, type Triggers } from "../trigger/triggers.ts";
import { openAnnouncer } from "./announce.ts";
import { removeNote, writeNote } from "./note.ts";
import type { Closing, Daemon, DaemonOptions } from "./options.ts";
import { openRunLog } from "./run-log.ts";
import { serve, type Served } from "./serve.ts";
import { openStandby } from "./standby.ts";

/**
 * Refused with `already_performed` if another process performs in this state folder. If one performs on the same database with another state
 * folder, the daemon stands by.
 */
export async function openDaemon(options: DaemonOptions): Promise<Result<Daemon>> {
  const { log } = options;
  const onError = (runId: string | null, error: unknown): void =>
    log.write(`${runId === null ? "" : `${runId}: `}${stackOf(error)}`);
  const opened = await openPassrail({ ...options, takesWorkers: true, onError, onNotice: (line) => log.write(line) });
  if (!opened.ok) return opened;
  if (opened.value.performedBy !== null && opened.value.isFree !== null) {
    const standby = await openStandby({ ...opened.value, isFree: opened.value.isFree }, options);
    if (!standby.ok) await opened.value.close();
    return standby;
  }
  const performer = await requirePerformer(opened.value);
  if (!performer.ok) return performer;
  const passrail = performer.value;
  const started = await start(passrail, options);
  if (!started.ok) await passrail.close();
  return started;
}

async function start(passrail: Performer, options: DaemonOptions): Promise<Result<Daemon>> {
  const triggers = readTriggers(passrail.config.triggers, { ...options, home: passrail.home });
  if (!triggers.ok) return triggers;
  const served = await serve(passrail, options);
  if (!served.ok) return served;
  passrail.setUrl(served.value.listening.url);
  const isFirstStart = (await passrail.store.listRuns({ limit: 1 })).length === 0;
  await passrail.perform();
  return ok(begin(passrail, { ...served.value, isFirstStart }, triggers.value, options));
}

/** The engine performs and the API answers; triggers and tickets come last. */
function begin(
  passrail: Performer,
  { server, isFirstStart, listening: { url } }: Served & { readonly isFirstStart: boolean },
  read: readonly OpenedTrigger[],
  options: DaemonOptions,
): Daemon {
  const { log, project, version } = options;
  const { clock, home, redact, store } = passrail;
  const runLog = openRunLog({ home, store, log, redact });
  passrail.listen(runLog);
  const dispatches = options.work === true || passrail.config.tickets.dispatch;
  writeNote(home, { pid: process.pid, url, version, project, startedAt: clock.now(), dispatches, standbyOf: null });
  const triggers = openTriggers({
    ...options,
    triggers: read,
    app: passrail.app,
    store: passrail.store,
    now: () => new Date(clock.now()),
    onProblem: (text) => log.write(text),
  });
  const notifier = passrail.notifications?.notifier;
  const announcer =
    notifier === undefined
      ? undefined
      : openAnnouncer({
          home,
          looseEnds: server.deps.looseEnds,
          notifier,
          isFirstStart,
          onProblem: (error) => log.write(`notices: ${stackOf(error)}`),
        });
  const sweep = openSweep({
    home,
    store,
    commitOf: createCommitOf(store),
    rules: passrail.config.retention,
    now: () => clock.now(),
    log: (line) => log.write(line),
    onError: (error) => log.write(`retention: ${stackOf(error)}`),
  });
  log.write(`listening on ${url}, home ${home}, pid ${process.pid}, version ${version}`);
  const dispatcher = dispatches
    ? openDispatcher(passrail, { project, log: (line) => log.write(`tickets: ${line}`) })
    : undefined;
  dispatcher?.start().catch((error: unknown) => log.write(`tickets: ${stackOf(error)}`));
  return {
    url,
    home,
    store,
    app: passrail.app,
    person: passrail.person,
    vacant: new Promise(() => undefined),
    fenced: passrail.fenced.then(({ code, message, hint }) => ({ code, message, hint })),
    newLoginCode: () => server.keys.newLoginCode().token,
    async close(how) {
      await announcer?.close();
      await sweep.close();
      await stopWork(passrail, triggers, dispatcher, how);
      await runLog.close();
      removeNote(home);
      await server.close();
      await passrail.close(how === "leave" ? "leave" : "end");
      log.write("stopped");
    },
  };
}

async function stopWork(
  passrail: Performer,
  triggers: Triggers,
  dispatcher: Dispatcher | undefined,
  how: Closing,
): Promise<void> {
  await triggers.close();
  dispatcher?.stop();
  if (how === "drain") return passrail.engine.drain();
  if (how === "fenced") return;
  // Before the note is removed: the daemon has stopped when its attempts have.
  await passrail.engine.close(how === "leave" ? "leave" : "end");
  // A ticket file must not say that work is in progress while no process works on it.
  if (dispatcher !== undefined) await interruptAttempts(passrail);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
