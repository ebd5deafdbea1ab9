// The usage of one attempt while its program works: what its output tells, or what its session file tells, whichever is more. It only
// grows: neither a program that counts anew nor an agent that shortens the file makes it smaller.

import type { RunnerName } from "../core/flow/agent-options.ts";
import { addUsage, largerUsage, type Usage, usageSince } from "../core/budget/usage.ts";
import type { AgentEvent } from "../runner/runner.ts";
import type { OnLimits, SessionPlaces } from "../runner/session-journal.ts";
import { openSessionUsage, sessionUsage } from "../runner/session-usage.ts";

export type LiveUsage = {
  /** Before a prompt is sent. `session`: the one that it resumes; what is in it already is not this attempt's. */
  begin(session: string | null): void;
  /** With every answer that a model gave the program, where its requests are seen. */
  counted(usage: Usage): void;
  /** With every event of the program. */
  note(event: AgentEvent): void;
  /** After the program has ended. `isWhole`: what it told is its own last word, which counts for the dollars. */
  end(told: Usage | null, isWhole: boolean): void;
  /** Of the whole attempt so far; undefined without any report. */
  total(): Usage | undefined;
  /** Of the model's last answer, whose tools run now; null unless the session file has told it already. */
  answer(): Usage | null;
  /** Of the session that the current prompt resumed, when it was sent; null for a new one. */
  before(): Usage | null;
  close(): void;
};

/** Programs without events, and files that are written a moment after them. */
const LOOK_MS = 1000;
/** A program that prints fast is not asked for its file with every line. */
const PAUSE_MS = 100;

export type UsageWatch = {
  readonly grown: () => void;
  /** After each look, also if nothing has changed: the room may have. */
  readonly looked: () => void;
  /** The session file says how far the account's limits are used. */
  readonly limits: OnLimits;
};

export function openLiveUsage(runner: RunnerName, places: SessionPlaces, watch: UsageWatch): LiveUsage {
  /** Of the prompts that have ended. */
  let settled: Usage | undefined;
  let current: Prompt | undefined;

  function look(): void {
    if (current === undefined) return;
    current.lookedAt = performance.now();
    const inFile = current.read();
    grow(inFile === null ? null : usageSince(inFile, current.before));
    watch.looked();
  }

  function grow(seen: Usage | null): void {
    if (current === undefined || seen === null) return;
    const { usage } = current;
    const next = usage === null ? seen : largerUsage(usage, seen);
    if (usage !== null && isSame(usage, next)) return;
    current.usage = next;
    watch.grown();
  }

  function open(session: string): Prompt["read"] {
    const answer = (usage: Usage): void => {
      if (current !== undefined) current.answer = usage;
    };
    return openSessionUsage(runner, session, places, { limits: watch.limits, answer });
  }

  const timer = setInterval(look, LOOK_MS);
  return {
    begin(session) {
      const read = session === null ? () => null : open(session);
      const before = session === null ? null : sessionUsage(runner, session, places);
      current = { session, read, before, usage: null, answers: null, answer: null, lookedAt: 0 };
      // What the session holds already is no answer to this prompt.
      read();
      current.answer = null;
    },
    counted(usage) {
      if (current === undefined) return;
      current.answers = current.answers === null ? usage : addUsage(current.answers, usage);
      grow(current.answers);
    },
    note(event) {
      if (current === undefined) return;
      if (event.type === "session" && event.id !== current.session) {
        current.session = event.id;
        current.read = open(event.id);
        // Another session than the one that was to be resumed is a new one.
        current.before = null;
      }
      if (event.type === "usage") grow(event.usage);
      const isReturned = event.type === "tool.returned";
      if (isReturned || performance.now() - current.lookedAt >= PAUSE_MS) look();
      // What was told until now belongs to answers whose tools are done.
      if (isReturned) current.answer = null;
    },
    end(told, isWhole) {
      look();
      const seen = current?.usage ?? null;
      current = undefined;
      const larger = told === null || seen === null ? (told ?? seen) : largerUsage(told, seen);
      const own = larger === null || !isWhole ? larger : { ...larger, usd: told?.usd ?? larger.usd };
      if (own !== null) settled = settled === undefined ? own : addUsage(settled, own);
    },
    total() {
      const now = current?.usage ?? null;
      return now === null ? settled : settled === undefined ? now : addUsage(settled, now);
    },
    answer() {
      look();
      return current?.answer ?? null;
    },
    before: () => current?.before ?? null,
    close: () => clearInterval(timer),
  };
}

/** One run of the program. */
type Prompt = {
  session: string | null;
  read: () => Usage | null;
  before: Usage | null;
  usage: Usage | null;
  /** The sum of what its answers told. */
  answers: Usage | null;
  /** As its session file told it last, unless its tools are done. */
  answer: Usage | null;
  lookedAt: number;
};

function isSame(one: Usage, other: Usage): boolean {
  return (
    one.usd === other.usd &&
    one.inputTokens === other.inputTokens &&
    one.outputTokens === other.outputTokens &&
    one.cachedTokens === other.cachedTokens
  );
}
