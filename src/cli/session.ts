// A command's work on one run, with or without a daemon: sends the command's signal, performs in the foreground everything that is now
// ready, and releases the engine lock. If another process performs, the command only sends its signal and, if asked, follows the run.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { PassrailOptions, Passrail, Performer } from "../compose.ts";
import { needsApi } from "../app/needs-api.ts";
import type { RunListener } from "../daemon/run-listener.ts";
import { keepHeapSmall } from "../daemon/small-heap.ts";
import { openForReading } from "../store/open-store.ts";
import { isEnded, openItems, type Run, takenOver } from "../core/run/run.ts";
import { CliError, EXIT, problemError } from "./errors.ts";
import type { Store } from "../store/store.ts";
import type { Io } from "./terminal/io.ts";
import { type Caught, catchSignals } from "./interrupt.ts";
import { isSettled } from "./terminal/run-view.ts";
import { createView, type View } from "./terminal/view.ts";
import { messageOf } from "../core/result.ts";

export type ForegroundTools = Pick<Passrail, "app" | "engine" | "store" | "person">;

export type ForegroundWork = {
  /** The run whose state decides how the command ends. */
  readonly runId: string;
  readonly flags: PassrailOptions["flags"];
  /** Runs once, before anything is performed. False: the command is done, perform nothing. */
  readonly act?: (tools: ForegroundTools) => Promise<boolean>;
  /** Wait until the run settles, even if another process performs it. */
  readonly follow: boolean;
  /** With --json, print each event on a line of its own as it is stored. */
  readonly stream: boolean;
  /** Where progress lines go: to stdout if they are the requested data, else to stderr. */
  readonly lines: "out" | "err";
  /** The command stops something: it acts even if the project's files are not approved, and then performs nothing. */
  readonly stops?: boolean;
};

/** `performedBy`: the other process that performs the run, if there is one. */
export type Rest = { readonly run: Run; readonly performedBy: string | null };

const LOOK_MS = 100;
/** How long another process may stay silent before we check whether it still performs. */
const QUIET_MS = 5000;

export async function workOn(io: Io, job: ForegroundWork): Promise<Rest> {
  let current: Store | undefined;
  const signals = catchSignals(async () => (current === undefined ? undefined : forceEnd(current)));
  try {
    return await untilRest(io, job, signals.caught, (store) => (current = store));
  } finally {
    signals.release();
  }
}

async function untilRest(
  io: Io,
  job: ForegroundWork,
  caught: Promise<Caught>,
  onStore: (store: Store) => void,
): Promise<Rest> {
  let view: View | undefined;
  for (let { act } = job; ; act = undefined) {
    const { passrail, mayPerform } = await open(io, job);
    onStore(passrail.store);
    let round: Round;
    try {
      view ??= await openView(io, job, passrail.store);
      const isDone = (act !== undefined && !(await act(passrail))) || !mayPerform;
      if (!isDone) await stay(io, job, passrail, { runId: job.runId, view, caught });
      await view.update(passrail.store);
      const { performedBy } = passrail;
      round = { isDone, hasActed: act !== undefined, performedBy, seen: await passrail.store.lastSeq() };
    } finally {
      await passrail.close();
    }
    const after = await afterRelease(io, job.runId, round.seen);
    if (!mayLeave(job, round, after)) continue;
    const store = await openForReading(io);
    if (store !== undefined) {
      await view.close(store);
      store.close();
    }
    return { run: after.run, performedBy: round.performedBy };
  }
}

/** One cycle of open, act, perform and close. `seen`: the last event that the cycle has read. */
type Round = {
  readonly isDone: boolean;
  readonly hasActed: boolean;
  readonly performedBy: string | null;
  readonly seen: number;
};

/** False: run another cycle. The other process may have read its last signal just before we stored ours. */
function mayLeave(
  { follow }: ForegroundWork,
  { isDone, hasActed, performedBy }: Round,
  { isLeftBehind, run }: Left,
): boolean {
  if (isDone) return true;
  if (performedBy === null) return !isLeftBehind;
  return follow ? isSettled(run) : !hasActed;
}

type OpenedHere = { readonly passrail: Passrail; readonly mayPerform: boolean };

async function open(io: Io, { flags, stops = false }: ForegroundWork): Promise<OpenedHere> {
  // Commands that only read also import this file; they must not load every adapter.
  const { openPassrail } = await import("../compose.ts");
  const options: PassrailOptions = {
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags,
    onError: (runId, error) => io.err(`! ${runId === null ? "" : `${runId}: `}${messageOf(error)}`),
  };
  const opened = await openPassrail(options);
  if (opened.ok) return { passrail: opened.value, mayPerform: true };
  const isUntrusted = opened.error.code === "project_not_trusted" || opened.error.code === "trust_damaged";
  const bare = stops && isUntrusted ? await openPassrail({ ...options, unapproved: "ignore" }) : opened;
  if (!bare.ok) throw problemError(bare.error);
  return { passrail: bare.value, mayPerform: false };
}

/** A view that shows only events from now on. */
async function openView(io: Io, { runId, stream, lines }: ForegroundWork, store: Store): Promise<View> {
  return createView(io, { runId, after: await store.lastSeq(), stream, lines, terminal: process.stderr });
}

/** The view of the run for the user meanwhile, and the signal that ends the command. */
type Watched = { readonly runId: string; readonly view: View; readonly caught: Promise<Caught> };

async function stay(io: Io, job: ForegroundWork, passrail: Passrail, watched: Watched): Promise<void> {
  if (passrail.performedBy === null) return perform(io, job, passrail, watched);
  if (job.follow) await follow(io, passrail, watched);
}

/** Performs until the run is idle, and shows its progress. */
async function perform(
  io: Io,
  { flags }: Pick<ForegroundWork, "flags">,
  passrail: Performer,
  { runId, view, caught }: Watched,
): Promise<void> {
  const listener = await listenForAgents(io, flags, passrail);
  keepHeapSmall();
  await passrail.perform();
  const updates = keepUpdated(view, passrail.store);
  try {
    const rest = async (): Promise<"rest"> => {
      await passrail.engine.idle(runId);
      await passrail.engine.catchUp();
      await passrail.engine.idle(runId);
      return "rest";
    };
    const ended = await Promise.race([rest(), caught, updates.failed, passrail.fenced]);
    if (ended === "rest") return;
    if (ended instanceof Error) throw ended;
    await updates.stop();
    io.err("Stopping: ending the agents and keeping their reports. Press Ctrl-C again to stop at once.");
    await passrail.engine.close();
    const number = (await passrail.store.findRuns(runId))[0]?.number ?? runId;
    const stored = await passrail.store.loadRun(runId);
    const canResume = stored !== undefined && !isEnded(stored.run);
    const hint = canResume ? `passrail runs watch ${number}   resumes it\npassrail runs cancel ${number}  ends it` : "";
    throw new CliError("interrupted", `Stopped by ${ended.signal}.`, hint, ended.exit);
  } finally {
    await updates.stop();
    await listener?.close();
  }
}

/** Before anything is performed: the first agent that hands over by HTTP finds the API, also without a daemon. */
async function listenForAgents(
  { cwd: project, environment, err }: Io,
  flags: ForegroundWork["flags"],
  passrail: Performer,
): Promise<RunListener | undefined> {
  if (!(await needsApi(passrail.store))) return undefined;
  // Most runs need no server; they do not load it.
  const { openRunListener } = await import("../daemon/run-listener.ts");
  return openRunListener(passrail, { environment, project, flags, log: (line) => err(`! ${line}`) });
}

/** Shows what the other process stores until the run settles, or until that process has been silent for a while. */
async function follow(io: Io, passrail: Passrail, { runId, view, caught }: Watched): Promise<void> {
  let quietSince = performance.now();
  for (;;) {
    if (await view.update(passrail.store)) quietSince = performance.now();
    const stored = await passrail.store.loadRun(runId);
    if (stored === undefined || isSettled(stored.run) || performance.now() - quietSince > QUIET_MS) return;
    const ended = await Promise.race([pause(LOOK_MS), caught]);
    if (ended === undefined) continue;
    io.err(`The run continues: ${passrail.performedBy ?? "another process"} performs it.`);
    throw new CliError("interrupted", `Stopped by ${ended.signal}.`, "", ended.exit);
  }
}

function keepUpdated(view: View, store: Store) {
  let stopped = false;
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  const loop = (async () => {
    while (!stopped) {
      await view.update(store);
      await pause(LOOK_MS);
    }
  })().catch((error: unknown) => fail(error));
  return {
    failed,
    async stop(): Promise<void> {
      stopped = true;
      await loop;
    },
  };
}

/** `isLeftBehind`: an event was stored after our last read, and no process may be performing it. */
type Left = { readonly run: Run; readonly isLeftBehind: boolean };

async function afterRelease(io: Io, runId: string, seen: number): Promise<Left> {
  const store = await openForReading(io);
  const stored = await store?.loadRun(runId);
  if (store === undefined || stored === undefined) throw new CliError("run_not_found", `There is no run ${runId}.`);
  const isLeftBehind = (await store.lastSeq()) > seen && (await store.activeRuns()).length > 0;
  store.close();
  return { run: stored.run, isLeftBehind };
}

/** For the second Ctrl-C: kills the process groups of all running attempts without waiting. */
export async function forceEnd(store: Store): Promise<void> {
  for (const runId of await store.activeRuns()) {
    for (const record of await store.attempts(runId)) {
      const { process: program, carrier } = attemptFacts(record);
      if (record.status !== "running") continue;
      // The carrier first: it would take the end of its program for the end of the work.
      for (const identity of [carrier, program]) {
        if (identity === null || identity.pid <= 1) continue;
        try {
          process.kill(-identity.pid, "SIGKILL");
        } catch {
          // Gone already.
        }
      }
    }
  }
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}

/** The exit code of a command that performed a run. `canceled`: the code for a run that was canceled. */
export function exitOf(run: Run, canceled: number = EXIT.unsuccessful): number {
  switch (run.status) {
    case "completed":
      return EXIT.ok;
    case "waiting":
      return openItems(run).every(({ kind }) => kind === "budget") ? EXIT.limit : EXIT.waiting;
    case "stopped":
      return EXIT.unsuccessful;
    case "canceled":
      return canceled;
    case "running":
      return takenOver(run) === undefined ? EXIT.stillRunning : EXIT.waiting;
  }
}
