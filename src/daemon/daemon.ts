// The daemon: engine and server, opened and closed together. It takes the lock, opens the store, begins to listen, and only then performs,
// so that the first agent already finds the API.

import { type Performer, openPassrail, requirePerformer } from "../compose.ts";
import { createCommitOf } from "../app/commit-of.ts";
import { openSweep } from "../app/retention/sweep.ts";
import { ok, type Result } from "../core/result.ts";
import type { Dispatcher } from "../ticket/pick/dispatcher.ts";
import { interruptAttempts } from "../ticket/pick/interrupt-attempts.ts";
import { openTicketFolder } from "../ticket/file/open-folder.ts";
import { openDispatcher } from "../ticket/pick/open.ts";
import { openTrackerWatch } from "../ticket/track/watch.ts";
import { openTrackers } from "../tracker/open.ts";
import { type OpenedTrigger, openTriggers, readTriggers, type Triggers } from "../trigger/triggers.ts";
import { measureDaemon } from "../http/server/measure.ts";
import { nightReport } from "../http/server/routes/report.ts";
import { openAnnouncer } from "./announce.ts";
import type { Log } from "./log.ts";
import { openNodeNotes } from "./node-notes.ts";
import { removeNote, writeNote } from "./note.ts";
import type { Closing, Daemon, DaemonOptions } from "./options.ts";
import { openRunLog } from "./run-log.ts";
import { openMetrics } from "./send-metrics.ts";
import { serve, type Served } from "./serve.ts";
import { openShift, type ShiftWatch } from "./shift.ts";
import { keepHeapSmall } from "./small-heap.ts";
import { openTelemetry, type Telemetry } from "./telemetry.ts";
import { metricsEveryMs, readTelemetry, type TelemetrySettings, type TelemetrySignal } from "./telemetry-settings.ts";
import { openStandby } from "./standby.ts";

/**
 * Refused with `already_performed` if another process performs in this state folder. If one performs on the same
 * database with another state folder, the daemon is on standby.
 */
export async function openDaemon(options: DaemonOptions): Promise<Result<Daemon>> {
  const { log } = options;
  const onError = (runId: string | null, error: unknown): void =>
    log.write(`${runId === null ? "" : `${runId}: `}${stackOf(error)}`);
  const onNotice = (line: string): void => log.write(line);
  const opened = await openPassrail({ ...options, takesWorkers: true, answersInPlace: true, onError, onNotice });
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
  passrail.setUrl(served.value.listening.url, served.value.publicUrl);
  const isFirstStart = (await passrail.store.listRuns({ limit: 1 })).length === 0;
  // Before anything starts: the shift may have ended while no daemon was running.
  const shift = await openShiftOf(passrail, served.value, options);
  if (!shift.ok) {
    await served.value.server.close();
    return shift;
  }
  keepHeapSmall();
  await passrail.perform();
  const telemetry = await openTelemetryOf(passrail, served.value, options);
  return ok(begin(passrail, { ...served.value, shift: shift.value, telemetry, isFirstStart }, triggers.value, options));
}

/** The engine performs and the API answers; triggers and tickets come last. */
function begin(
  passrail: Performer,
  served: Served & { readonly shift: ShiftWatch; telemetry: readonly Telemetry[]; isFirstStart: boolean },
  read: readonly OpenedTrigger[],
  options: DaemonOptions,
): Daemon {
  const { server, shift, telemetry, isFirstStart, publicUrl } = served;
  const { url } = served.listening;
  const { log, project, version } = options;
  const { clock, home, redact, store } = passrail;
  const runLog = openRunLog({ home, store, log, redact });
  passrail.listen(runLog);
  passrail.listen(shift);
  const dispatches = options.work === true || passrail.config.tickets.dispatch;
  const about = { version, project, startedAt: clock.now(), dispatches };
  writeNote(home, { pid: process.pid, url, publicUrl, ...about, standbyOf: null });
  const triggers = openTriggers({
    ...options,
    triggers: read,
    app: passrail.app,
    store: passrail.store,
    now: () => new Date(clock.now()),
    onProblem: (text) => log.write(text),
  });
  const noted = { home, share: store.nodes, settings: passrail.config, version, url: publicUrl ?? url, performs: true };
  const nodes = openNodeNotes({ ...noted, log: (line) => log.write(line) });
  const announcer = announcerOf(passrail, server, log, isFirstStart);
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
    ? openDispatcher(passrail, {
        project,
        log: (line) => log.write(`tickets: ${line}`),
        isHeld: async () => (await passrail.app.lookAtPause()) !== null,
      })
    : undefined;
  const trackers = openTrackersOf(passrail, options);
  dispatcher?.start().catch((error: unknown) => log.write(`tickets: ${stackOf(error)}`));
  return {
    url,
    publicUrl,
    home,
    store,
    app: passrail.app,
    person: passrail.person,
    vacant: new Promise(() => undefined),
    fenced: passrail.fenced.then(({ code, message, hint }) => ({ code, message, hint })),
    newLoginCode: () => server.keys.newLoginCode().token,
    async close(how) {
      await announcer?.close();
      nodes.close();
      await shift.close();
      for (const each of telemetry) await each.close();
      await trackers?.close();
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

/** Undefined if there are no notices. */
function announcerOf({ home, notifications }: Performer, { deps }: Served["server"], log: Log, isFirstStart: boolean) {
  const notifier = notifications?.notifier;
  if (notifier === undefined) return undefined;
  const onProblem = (error: unknown): void => log.write(`notices: ${stackOf(error)}`);
  return openAnnouncer({ home, looseEnds: deps.looseEnds, notifier, isFirstStart, onProblem });
}

/** Undefined without a tracker in the user's settings. */
function openTrackersOf({ config, home }: Performer, { environment, log, project }: DaemonOptions) {
  if (config.trackers.length === 0) return undefined;
  const trackers = openTrackers(config.trackers, environment);
  const folder = openTicketFolder({ project, settings: config.tickets });
  return openTrackerWatch({ home, project, folder, trackers }, (line) => log.write(`trackers: ${line}`));
}

/** Empty unless OpenTelemetry's variables name a collector; a wrong variable is no reason not to work. */
async function openTelemetryOf(
  { clock, home, store }: Performer,
  { server }: Served,
  { environment, log, version }: DaemonOptions,
): Promise<readonly Telemetry[]> {
  const settingsOf = (signal: TelemetrySignal): TelemetrySettings | null => {
    const settings = readTelemetry(environment, version, signal);
    if (!settings.ok) log.write(settings.error.message);
    return settings.ok ? settings.value : null;
  };
  const write = (line: string): void => log.write(line);
  const [traces, metrics] = [settingsOf("traces"), settingsOf("metrics")];
  return [
    ...(traces === null ? [] : [await openTelemetry({ ...traces, home, store, log: write })]),
    ...(metrics === null
      ? []
      : [
          openMetrics({
            settings: metrics,
            everyMs: metricsEveryMs(environment),
            measure: () => measureDaemon(server.deps),
            now: () => clock.now(),
            log: write,
          }),
        ]),
  ];
}

function openShiftOf(passrail: Performer, { server }: Served, { log, shift = null }: DaemonOptions) {
  const { app, clock, home, store } = passrail;
  return openShift({
    home,
    wish: shift,
    person: passrail.person,
    app,
    store,
    now: () => clock.now(),
    notifier: passrail.notifications?.notifier,
    report: (since) => nightReport(server.deps, since, true),
    log: (line) => log.write(line),
    onError: (error) => log.write(`shift: ${stackOf(error)}`),
  });
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
