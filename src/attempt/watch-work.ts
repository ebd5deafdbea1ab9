// Watches the program of an attempt while it works: tells what it has used, and ends it where a budget is used up or where it turns in a
// circle. Whoever carries the attempt out does this by itself, so that it holds without an engine.

import type { ReportedUsage } from "../core/budget/budget.ts";
import { type ReachedLimit, reachedIn, reachedText } from "../core/budget/room.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { RunnerName } from "../core/flow/agent-options.ts";
import type { AgentEvent, AttemptEnd, Failure } from "../runner/runner.ts";
import type { OnLimits, SessionPlaces } from "../runner/session-journal.ts";
import type { AttemptPorts } from "./job.ts";
import { openLiveUsage } from "./live-usage.ts";
import { watchLoops } from "./loop-watch.ts";

/** Why Passrail ended a program in the middle of its work. */
export type StoppedWork =
  | { readonly by: "budget"; readonly limit: ReachedLimit }
  /** It cost what one attempt may cost. */
  | { readonly by: "cost"; readonly usd: number; readonly limit: number }
  /** Its vendor answers no more for longer than a program should sleep. */
  | { readonly by: "vendor"; readonly failure: Failure }
  /** In words. */
  | { readonly by: "loop"; readonly loop: string };

export type WorkWatch = {
  /** Aborted when the work must stop. */
  readonly signal: AbortSignal;
  /** Before a prompt is sent; `session` is the one that it resumes. */
  begin(session: string | null): void;
  note(event: AgentEvent): void;
  /** What one answer of a model used, where requests are seen. */
  counted(usage: Usage): void;
  /** Asked before a request to a model: why it must not be made. */
  admit(): string | undefined;
  limited(failure: Failure): void;
  end(end: AttemptEnd): void;
  /** All usage so far. */
  reported(): ReportedUsage | undefined;
  stopped(): StoppedWork | undefined;
  /** What the answer of the model has used whose tools run now; null where that is not known yet. */
  answer(): Usage | null;
  /** What the session had used before this attempt resumed it; null for a new one. */
  before(): Usage | null;
  close(): void;
};

export type WatchedProgram = {
  readonly runner: RunnerName;
  readonly places: SessionPlaces;
  readonly ports: Pick<AttemptPorts, "room" | "spent">;
  readonly sameCalls: number | undefined;
  /** What one attempt may cost; undefined without a limit. */
  readonly maxCostUsd: number | undefined;
};

export type WatchedState = {
  /** As far as it is known. */
  readonly model: () => string | null;
  /** A verdict that was accepted is worth more than what the program does after it. */
  readonly hasVerdict: () => boolean;
  readonly onLimits: OnLimits;
};

/** Usage is told at most this often while it grows. */
const TELL_MS = 1000;

export function watchWork(program: WatchedProgram, { model, hasVerdict, onLimits }: WatchedState): WorkWatch {
  const { runner, places, ports, sameCalls, maxCostUsd = Infinity } = program;
  const stop = new AbortController();
  const loops = watchLoops(sameCalls);
  let stopped: StoppedWork | undefined;
  let telling: NodeJS.Timeout | undefined;
  // Programs that only print have neither a session nor a bill.
  const isAgent = runner !== "command";
  const live = openLiveUsage(runner, places, {
    grown: () => void (telling ??= setTimeout(tell, TELL_MS)),
    looked: stopAtLimit,
    limits: onLimits,
  });

  function reported(): ReportedUsage | undefined {
    const usage = isAgent ? live.total() : undefined;
    return usage === undefined ? undefined : { runner, model: model(), usage };
  }

  function tell(): void {
    clearTimeout(telling);
    telling = undefined;
    const spent = reported();
    if (spent !== undefined) ports.spent(spent);
  }

  function stopAtLimit(): void {
    const limit = isAgent ? reachedIn(ports.room(), live.total()) : undefined;
    if (limit !== undefined) stopFor({ by: "budget", limit });
    // Unknown dollars reach no limit.
    const usd = live.total()?.usd ?? 0;
    if (usd >= maxCostUsd) stopFor({ by: "cost", usd, limit: maxCostUsd });
  }

  /** The first reason counts. */
  function stopFor(why: StoppedWork): void {
    if (stopped !== undefined || hasVerdict()) return;
    stopped = why;
    stop.abort(why.by);
  }

  return {
    signal: stop.signal,
    begin: (session) => live.begin(session),
    note(event) {
      live.note(event);
      const loop = loops.note(event);
      if (loop !== undefined) stopFor({ by: "loop", loop });
    },
    counted: (usage) => live.counted(usage),
    admit() {
      stopAtLimit();
      if (stopped === undefined) return undefined;
      return stopped.by === "budget" ? reachedText(stopped.limit) : "the attempt was stopped";
    },
    limited: (failure) => stopFor({ by: "vendor", failure }),
    end({ conversation, reason }) {
      live.end(conversation?.usage ?? null, reason === "exited" || reason === "finished");
      tell();
    },
    reported,
    stopped: () => stopped,
    answer: () => live.answer(),
    before: () => live.before(),
    close() {
      clearTimeout(telling);
      live.close();
    },
  };
}
