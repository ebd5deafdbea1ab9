// One command's share of the work: acts on the store, performs in the foreground whatever became possible, and lets go again. Where another
// process performs, it only delivers its signal and, if asked, follows the run. It works with and without a daemon.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { PassrailOptions, Passrail, Performer } from "../compose.ts";
import { openForReading } from "../store/sqlite/open-for-reading.ts";
import { isEnded, openItems, type Run } from "../core/run/run.ts";
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
  /** Stay until the run settles, also where another process performs it. */
  readonly follow: boolean;
  /** With --json, print the events as they come, one per line. */
  readonly stream: boolean;
  /** Where lines of progress go: to stdout where they are the requested data, else to stderr. */
  readonly lines: "out" | "err";
};

/** `performedBy`: the process that performs the run, where that is another one. */
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
    const passrail = await open(io, job.flags);
    onStore(passrail.store);
    let round: Round;
    try {
      view ??= await openView(io, job, passrail.store);
      const isDone = act !== undefined && !(await act(passrail));
      if (!isDone) await stay(io, job, passrail, view, caught);
      await view.update(passrail.store);
      const { performedBy } = passrail;
      round = { isDone, hasActed: act !== undefined, performedBy, seen: await passrail.store.lastSeq() };
    } finally {
      await passrail.close();
    }
    const after = await afterRelease(passrail.home, job.runId, round.seen);
    if (!mayLeave(job, round, after)) continue;
    const store = openForReading(passrail.home);
    if (store !== undefined) {
      await view.close(store);
      store.close();
    }
    return { run: after.run, performedBy: round.performedBy };
  }
}

/** One time between opening and closing. `seen`: the last event that was stored when we looked last. */
type Round = {
  readonly isDone: boolean;
  readonly hasActed: boolean;
  readonly performedBy: string | null;
  readonly seen: number;
};

/** False: open once more. The other process may have looked for the last time just before our signal was stored. */
function mayLeave(
  { follow }: ForegroundWork,
  { isDone, hasActed, performedBy }: Round,
  { isLeftBehind, run }: Left,
): boolean {
  if (isDone) return true;
  if (performedBy === null) return !isLeftBehind;
  return follow ? isSettled(run) : !hasActed;
}

async function open(io: Io, flags: PassrailOptions["flags"]): Promise<Passrail> {
  // Commands that only read import this file too; they must not load every adapter.
  const { openPassrail } = await import("../compose.ts");
  const opened = await openPassrail({
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags,
    onError: (runId, error) => io.err(`! ${runId === null ? "" : `${runId}: `}${messageOf(error)}`),
  });
  if (!opened.ok) throw problemError(opened.error);
  return opened.value;
}

/** Shows what happens from now on. */
async function openView(io: Io, { runId, stream, lines }: ForegroundWork, store: Store): Promise<View> {
  return createView(io, { runId, after: await store.lastSeq(), stream, lines, terminal: process.stderr });
}

async function stay(
  io: Io,
  job: ForegroundWork,
  passrail: Passrail,
  view: View,
  caught: Promise<Caught>,
): Promise<void> {
  if (passrail.performedBy === null) return carryOn(io, passrail, job.runId, view, caught);
  if (job.follow) await follow(io, passrail, job.runId, view, caught);
}

/** Performs until nothing is left to do, and shows what happens. */
async function carryOn(io: Io, passrail: Performer, runId: string, view: View, caught: Promise<Caught>): Promise<void> {
  await passrail.perform();
  const telling = keepTelling(view, passrail.store);
  try {
    const rest = async (): Promise<"rest"> => {
      await passrail.engine.idle(runId);
      await passrail.engine.catchUp();
      await passrail.engine.idle(runId);
      return "rest";
    };
    const ended = await Promise.race([rest(), caught, telling.failed]);
    if (ended === "rest") return;
    await telling.stop();
    io.err(`Stopping: agents are ended, what they reported is kept. Again to stop at once.`);
    await passrail.engine.close();
    const number = (await passrail.store.findRuns(runId))[0]?.number ?? runId;
    const stored = await passrail.store.loadRun(runId);
    const goesOn = stored !== undefined && !isEnded(stored.run);
    const hint = goesOn ? `passrail runs watch ${number}   carries it on\npassrail runs cancel ${number}  ends it` : "";
    throw new CliError("interrupted", `Stopped by ${ended.signal}.`, hint, ended.exit);
  } finally {
    await telling.stop();
  }
}

/** Another process performs: shows what it stores until the run settles, or until it has been silent for a while. */
async function follow(io: Io, passrail: Passrail, runId: string, view: View, caught: Promise<Caught>): Promise<void> {
  let quietSince = performance.now();
  for (;;) {
    if (await view.update(passrail.store)) quietSince = performance.now();
    const stored = await passrail.store.loadRun(runId);
    if (stored === undefined || isSettled(stored.run) || performance.now() - quietSince > QUIET_MS) return;
    const ended = await Promise.race([pause(LOOK_MS), caught]);
    if (ended === undefined) continue;
    io.err(`The run goes on: ${passrail.performedBy ?? "another process"} performs it.`);
    throw new CliError("interrupted", `Stopped by ${ended.signal}.`, "", ended.exit);
  }
}

function keepTelling(view: View, store: Store) {
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

/** `isLeftBehind`: something was stored after our last look, and no process performs it now. */
type Left = { readonly run: Run; readonly isLeftBehind: boolean };

async function afterRelease(home: string, runId: string, seen: number): Promise<Left> {
  const store = openForReading(home);
  const stored = await store?.loadRun(runId);
  if (store === undefined || stored === undefined) throw new CliError("run_not_found", `There is no run ${runId}.`);
  const isLeftBehind = (await store.lastSeq()) > seen && (await store.activeRuns()).length > 0;
  store.close();
  return { run: stored.run, isLeftBehind };
}

/** The second Ctrl-C: kills every process of ours and waits for nothing. */
export async function forceEnd(store: Store): Promise<void> {
  for (const runId of await store.activeRuns()) {
    for (const record of await store.attempts(runId)) {
      const identity = attemptFacts(record).process;
      if (record.status !== "running" || identity === null || identity.pid <= 1) continue;
      try {
        process.kill(-identity.pid, "SIGKILL");
      } catch {
        // Gone already.
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
      return EXIT.stillRunning;
  }
}
