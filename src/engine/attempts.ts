// The attempts of this engine: one record each, from the slot that it takes until its report is delivered. The state says where the
// attempt is; each transition has a name. The records are in memory only: the next engine makes new ones of the attempts that it adopts.
//
//   starting ──▶ working ──▶ reporting ──▶ gone
//                   │            │
//                   ▼            ▼
//               lingering ──▶ settled ──▶ gone

import { hashedToken } from "../attempt/hashed-token.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { type Run, takenOver } from "../core/run/run.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Signal, SignalBody } from "../core/run/signal.ts";
import { isRunning } from "../core/run/startable.ts";
import type { Mailbox } from "../attempt/mailbox.ts";
import { TAKEN_OVER } from "../attempt/stage-workspace.ts";
import { waitingMessages } from "../core/run/message.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import type { Slots } from "./slots.ts";

/** The attempt that a token names. Its program may act for this attempt and for nothing else. */
export type TokenHolder = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  /** The agent's name as the flow shows it. */
  readonly agent: string;
  readonly subjectId: string;
};

export type AttemptState =
  /** It has its slot; the store does not know of its start yet. */
  | { readonly at: "starting" }
  /** Its program may run, and its own report counts. */
  | { readonly at: "working"; readonly token: string; readonly holder: TokenHolder }
  /** Its verdict came through the API, and its program still runs. Nothing else of the run starts until it is gone. */
  | { readonly at: "lingering"; readonly timer: NodeJS.Timeout }
  /** Its program is gone, and its own report is on the way to the store. */
  | { readonly at: "reporting" }
  /** Its program is gone, and its own report does not count. */
  | { readonly at: "settled" };

export type LiveAttempt = {
  readonly ready: ReadyAttempt;
  readonly abort: AbortController;
  state: AttemptState;
  /** Commits and checks the work before a pass from elsewhere counts; absent if its stage has no checks. */
  check?: (report: Report) => Promise<Report>;
  /** Its agent waits for a person: told of every change of the run. */
  asks?: (run: Run) => void;
  /** What people say to its agent; absent before it works. */
  messages?: Mailbox;
  /** Lets go of an attempt that works on without this engine; absent if it ends with it. */
  leave?: () => void;
  /** Resolves when the record is gone. */
  readonly gone: PromiseWithResolvers<void>;
};

export type Attempts = {
  /** Takes the slot of an attempt, or nothing. */
  tryStart(ready: ReadyAttempt): boolean;
  /** The slot is already taken. */
  start(ready: ReadyAttempt): void;
  /** Its start was not stored: starting → gone. */
  giveUp(ready: ReadyAttempt): void;
  /** Its start is stored: starting → working, with a new token. */
  work(ready: ReadyAttempt, holder: TokenHolder): { readonly live: LiveAttempt; readonly token: string };
  /** It works already, and a dead engine started it: → working, with the token that its program has. */
  adopt(ready: ReadyAttempt, holder: TokenHolder, token: string): LiveAttempt;
  /** Its verdict came from elsewhere: working → lingering, reporting → settled. */
  settleElsewhere(live: LiveAttempt): void;
  /** Its program is gone: → reporting where its own report counts, else → settled. Its slot is free. */
  endWork(live: LiveAttempt): "reporting" | "settled";
  /** → gone. */
  forget(live: LiveAttempt): void;

  has(ready: Pick<ReadyAttempt, "runId" | "key">): boolean;
  readonly isEmpty: boolean;
  /** The attempts of this run. */
  countOf(runId: string): number;
  /** The attempt that holds this token, until its verdict is in or its program is gone. */
  holderOf(token: string): TokenHolder | undefined;
  /** The signal, with what Passrail's checks say where it brings the verdict of one of our attempts. */
  checked(runId: string, body: SignalBody): Promise<SignalBody>;
  /** The attempt of ours that this signal, sent by someone else, ends. */
  settledBy(runId: string, signal: Signal): LiveAttempt | undefined;
  /** Whether this is an attempt's own report after its verdict came from elsewhere. */
  isSuperseded(runId: string, signal: Signal): boolean;
  /** Ends the programs that the run no longer wants; a lingering one may finish unless the run is canceled. */
  endUnwanted(run: Run): void;
  /** Gives the messages that wait to the attempts that they are for. */
  passOn(run: Run): void;
  /** Ends every program, and those that start later too. */
  endAll(reason: string): void;
  /** The same, but lets go of those that can work on without this engine. */
  leaveAll(reason: string): void;
  /** Resolves when this attempt is gone; at once if it is not among ours. */
  goneOf(runId: string, key: string): Promise<void>;
  /** Resolves when every attempt, or every one of this run, is gone. */
  allGone(runId?: string): Promise<void>;
};

export type AttemptsOptions = {
  readonly slots: Pick<Slots, "tryTake" | "take" | "release" | "bar" | "unbar">;
  readonly newId: () => string;
  readonly lingerMs: number;
};

export function createAttempts({ slots, newId, lingerMs }: AttemptsOptions): Attempts {
  const byRun = new Map<string, readonly LiveAttempt[]>();
  let endReason: string | undefined;

  const ofRun = (runId: string): readonly LiveAttempt[] => byRun.get(runId) ?? [];
  const all = (): readonly LiveAttempt[] => [...byRun.values()].flat();
  const find = (runId: string, key: string) => ofRun(runId).find(({ ready }) => ready.key === key);
  const endedBy = (runId: string, { stage, attempt }: Pick<Finish, "stage" | "attempt">) =>
    find(runId, attemptKey(runId, stage, attempt));

  function start(ready: ReadyAttempt): LiveAttempt {
    const gone = Promise.withResolvers<void>();
    const live: LiveAttempt = { ready, abort: new AbortController(), state: { at: "starting" }, gone };
    byRun.set(ready.runId, [...ofRun(ready.runId), live]);
    return live;
  }

  function forget(live: LiveAttempt): void {
    const { runId } = live.ready;
    const others = ofRun(runId).filter((each) => each !== live);
    if (others.length > 0) byRun.set(runId, others);
    else byRun.delete(runId);
    live.gone.resolve();
  }

  return {
    start: (ready) => void start(ready),
    forget,
    tryStart(ready) {
      if (!slots.tryTake(ready.slot)) return false;
      start(ready);
      return true;
    },
    giveUp(ready) {
      const live = find(ready.runId, ready.key);
      if (live?.state.at !== "starting") return;
      slots.release(ready.slot);
      forget(live);
    },
    work(ready, holder) {
      const live = find(ready.runId, ready.key);
      if (live?.state.at !== "starting") throw new Error(`${ready.key} is not starting`);
      // Not the attempt's nonce: others may read that one in the prompt.
      const token = `pr_at_${newId()}${newId()}`;
      live.state = { at: "working", token, holder };
      if (endReason !== undefined) live.abort.abort(endReason);
      return { live, token };
    },
    adopt(ready, holder, token) {
      slots.take(ready.slot);
      const live = start(ready);
      live.state = { at: "working", token, holder };
      return live;
    },
    settleElsewhere: (live) => settleElsewhere(live, slots, lingerMs),
    endWork: (live) => endWork(live, slots),
    has: ({ runId, key }) => find(runId, key) !== undefined,
    get isEmpty() {
      return byRun.size === 0;
    },
    countOf: (runId) => ofRun(runId).length,
    ...signalsTo(all, endedBy),
    endUnwanted: (run) => endUnwanted(ofRun(run.id), run),
    passOn: (run) => passOn(ofRun(run.id), run),
    endAll(reason) {
      endReason = reason;
      for (const { abort } of all()) abort.abort(reason);
    },
    leaveAll(reason) {
      endReason = reason;
      for (const live of all()) leaveOrEnd(live, reason);
    },
    goneOf: async (runId, key) => find(runId, key)?.gone.promise,
    async allGone(runId) {
      const waited = (): readonly LiveAttempt[] => (runId === undefined ? all() : ofRun(runId));
      for (let lives = waited(); lives.length > 0; lives = waited())
        await Promise.all(lives.map(({ gone }) => gone.promise));
    },
  };
}

function endUnwanted(lives: readonly LiveAttempt[], run: Run): void {
  for (const { ready, abort, state, asks } of lives) {
    asks?.(run);
    const isAlive = state.at === "working" || (state.at === "lingering" && run.status === "canceled");
    if (isAlive && !isRunning(run, ready)) abort.abort(isTaken(run, ready) ? TAKEN_OVER : "no longer wanted");
  }
}

function isTaken(run: Run, { stage, attempt }: ReadyAttempt): boolean {
  const taken = takenOver(run)?.track;
  return taken?.stage === stage && taken.attempt === attempt;
}

function passOn(lives: readonly LiveAttempt[], run: Run): void {
  for (const { ready, messages, state } of lives)
    if (state.at === "working") messages?.put(waitingMessages(run, ready.stage));
}

/** One that is being ended already is not left alone before it is gone. */
function leaveOrEnd({ abort, leave }: LiveAttempt, reason: string): void {
  if (leave === undefined || abort.signal.aborted) abort.abort(reason);
  else leave();
}

/** What a token and a signal mean for the attempts at work. */
function signalsTo(
  all: () => readonly LiveAttempt[],
  endedBy: (runId: string, finish: Pick<Finish, "stage" | "attempt">) => LiveAttempt | undefined,
): Pick<Attempts, "holderOf" | "checked" | "settledBy" | "isSuperseded"> {
  return {
    holderOf: (token) => all().flatMap(({ state }) => (isHeldBy(state, token) ? [state.holder] : []))[0],
    checked: (runId, body) => checkedBy(body.type === "attempt.finished" ? endedBy(runId, body) : undefined, body),
    settledBy(runId, signal) {
      if (signal.type !== "attempt.finished" || isOwnReport(signal)) return undefined;
      const live = endedBy(runId, signal);
      return live?.state.at === "starting" ? undefined : live;
    },
    isSuperseded: (runId, signal) =>
      signal.type === "attempt.finished" && isOwnReport(signal) && endedBy(runId, signal)?.state.at === "settled",
  };
}

/** A pass that comes from elsewhere counts only after Passrail's own look at the work. */
async function checkedBy(live: LiveAttempt | undefined, body: SignalBody): Promise<SignalBody> {
  if (body.type !== "attempt.finished" || live?.state.at !== "working" || live.check === undefined) return body;
  return { ...body, report: await live.check(body.report) };
}

type Finish = Signal & { type: "attempt.finished" };

/** The program gets time to exit. The next attempt of the run waits for it: both would work in the same workspace. */
function settleElsewhere(live: LiveAttempt, slots: Pick<Slots, "bar">, lingerMs: number): void {
  if (live.state.at === "reporting") {
    live.state = { at: "settled" };
  } else if (live.state.at === "working") {
    slots.bar(live.ready.runId);
    live.state = { at: "lingering", timer: setTimeout(() => live.abort.abort("its verdict is in"), lingerMs) };
  }
}

function endWork(live: LiveAttempt, slots: Pick<Slots, "release" | "unbar">): "reporting" | "settled" {
  const { ready, abort, state } = live;
  slots.release(ready.slot);
  if (state.at === "lingering") {
    clearTimeout(state.timer);
    slots.unbar(ready.runId);
  }
  // An attempt that was ended reports nothing: its end is stored already, or the next engine recovers it.
  const at = state.at === "working" && !abort.signal.aborted ? "reporting" : "settled";
  live.state = { at };
  return at;
}

function isHeldBy(state: AttemptState, token: string): state is AttemptState & { at: "working" } {
  return state.at === "working" && (state.token === token || state.token === hashedToken(token));
}

/** The engine's own id for the end of an attempt; other reporters use another one. */
export function finishId({ stage, attempt }: { readonly stage: string; readonly attempt: number }): string {
  return `finish:${stage}:${attempt}`;
}

function isOwnReport(signal: Finish): boolean {
  return signal.id === finishId(signal);
}
