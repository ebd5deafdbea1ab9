// From one command to the next rest: acts on the store, carries on in the foreground what became possible, and lets go again.
// Where another process performs, it only delivers and, if asked, follows. No daemon is needed and none is in the way.

import { attemptFacts } from "../core/attempt-facts.ts";
import { openPassrail, type OpenOptions, type Passrail } from "../compose.ts";
import { openForReading } from "../store/sqlite/open-for-reading.ts";
import { isEnded, openItems, type Run } from "../core/run/run.ts";
import { CliError, EXIT, problemError } from "./errors.ts";
import type { Store } from "./find-run.ts";
import type { Io } from "./terminal/io.ts";
import { type Caught, catchSignals } from "./interrupt.ts";
import { isSettled } from "./terminal/run-view.ts";
import { createView, type View } from "./terminal/view.ts";
import { messageOf } from "../core/result.ts";

export type Acting = Pick<Passrail, "engine" | "store" | "person">;

export type Job = {
  /** The run whose state decides how the command ends. */
  readonly runId: string;
  readonly flags: OpenOptions["flags"];
  /** Comes before anything is performed. False: that was all, carry on nothing. */
  readonly first?: (acting: Acting) => Promise<boolean>;
  /** Stay until the run rests, also where another process performs it. */
  readonly follow: boolean;
  /** With --json the events are printed as they come, one per line. */
  readonly stream: boolean;
  /** Where lines of progress go: they are the data that was asked for, or a comment beside it. */
  readonly lines: "out" | "err";
};

/** `performedBy`: the process that carries the run on, where that is not us. */
export type Rest = { readonly run: Run; readonly performedBy: string | null };

const LOOK_MS = 100;
/** So long nothing may happen in another process before we ask whether it is still there. */
const QUIET_MS = 5000;

export async function workOn(io: Io, job: Job): Promise<Rest> {
  let current: Store | undefined;
  const signals = catchSignals(async () => (current === undefined ? undefined : forceEnd(current)));
  try {
    return await untilRest(io, job, signals.caught, (store) => (current = store));
  } finally {
    signals.release();
  }
}

async function untilRest(io: Io, job: Job, caught: Promise<Caught>, onStore: (store: Store) => void): Promise<Rest> {
  let view: View | undefined;
  let hasActed = false;
  for (;;) {
    const attempt: { failure?: unknown; goOn: boolean } = { goOn: true };
    const first = async (acting: Acting): Promise<boolean> => {
      onStore(acting.store);
      view ??= createView(io, {
        runId: job.runId,
        after: await acting.store.lastSeq(),
        stream: job.stream,
        lines: job.lines,
        terminal: process.stderr,
      });
      if (hasActed || job.first === undefined) return true;
      hasActed = true;
      try {
        attempt.goOn = await job.first(acting);
      } catch (failure) {
        attempt.failure = failure;
        attempt.goOn = false;
      }
      return attempt.goOn;
    };
    const wasFirst = !hasActed && job.first !== undefined;
    const passrail = await open(io, job.flags, first);
    const own = passrail.performedBy === null;
    let seen = 0;
    try {
      if (attempt.failure !== undefined) throw attempt.failure;
      if (view !== undefined && attempt.goOn) {
        if (own) await carryOn(io, passrail, job.runId, view, caught);
        else if (job.follow) await follow(io, passrail, job.runId, view, caught);
      }
      if (view !== undefined) await view.update(passrail.store);
      seen = await passrail.store.lastSeq();
    } finally {
      await passrail.close();
    }
    const after = await afterRelease(passrail.home, job.runId, seen);
    const mayLeave = !attempt.goOn || (own ? !after.isLeftBehind : job.follow ? isSettled(after.run) : !wasFirst);
    // Whoever performs may have looked for the last time just before we delivered, so we ask once more who performs.
    if (!mayLeave) continue;
    const store = openForReading(passrail.home);
    if (store !== undefined) {
      await view?.close(store);
      store.close();
    }
    return { run: after.run, performedBy: passrail.performedBy };
  }
}

async function open(io: Io, flags: OpenOptions["flags"], first: NonNullable<OpenOptions["first"]>): Promise<Passrail> {
  const opened = await openPassrail({
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags,
    first,
    onError: (runId, error) => io.err(`! ${runId === "" ? "" : `${runId}: `}${messageOf(error)}`),
  });
  if (!opened.ok) throw problemError(opened.error);
  return opened.value;
}

/** Performs until nothing is left to do, telling what happens. */
async function carryOn(io: Io, passrail: Passrail, runId: string, view: View, caught: Promise<Caught>): Promise<void> {
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

/** Another process performs: tell what it stores until the run rests, or until it has been silent for a while. */
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

/** Whether something was stored after our last look that nobody performs now. */
async function afterRelease(home: string, runId: string, seen: number): Promise<{ run: Run; isLeftBehind: boolean }> {
  const store = openForReading(home);
  const stored = await store?.loadRun(runId);
  if (store === undefined || stored === undefined) throw new CliError("run_not_found", `There is no run ${runId}.`);
  const isLeftBehind = (await store.lastSeq()) > seen && (await store.activeRuns()).length > 0;
  store.close();
  return { run: stored.run, isLeftBehind };
}

/** The second Ctrl-C: nothing is waited for, but nothing of ours goes on either. */
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

/** How a command that carried a run on ends. `ended`: what a canceled run means to the one who asked. */
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
