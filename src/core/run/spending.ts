// The effect of signals about money on a run: usage is recorded, and a reached limit makes a track wait for a person,
// who raises it or stops. The store keeps the sums; this file has only the decisions of a run.

import { amountText, overText, readRaise, scopeText, soundUsage, type ReportedUsage } from "../budget/budget.ts";
import { ticketKey } from "./run-budget.ts";
import { type ReachedLimit, reachedText } from "../budget/room.ts";
import { type Draft, emit, showStatus, tell } from "./draft.ts";
import type { WorkStage } from "../flow/flow.ts";
import { hasNeverBegun } from "./postponement.ts";
import type { Outcome, Report } from "../flow/outcome.ts";
import { ready } from "./routing.ts";
import type { Carry, InboxItem, Track } from "./run.ts";
import { findWork } from "./sequence.ts";
import { readyTrack } from "./waiting-for-runner.ts";
import type { Signal } from "./signal.ts";
import type { Usage } from "../budget/usage.ts";

const NOTHING: Usage = { usd: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Settles the reservation of an attempt that has ended on its own. Without a report it stays booked. */
export function settleUsage(draft: Draft, { track, stage, attempt }: Ended, { metered, report, cause }: News): void {
  const free = metered !== undefined && hasNeverBegun(cause) ? { ...metered, usage: NOTHING } : undefined;
  const reported = report.usage ?? free;
  if (reported !== undefined) record(draft, { track, stage: stage.id, agent: stage.agent, attempt }, reported);
}

type Ended = { readonly track: string; readonly stage: WorkStage; readonly attempt: number };
type News = {
  /** The runner and the model that money was put aside for. */
  readonly metered: (Track & { at: "running" })["metered"];
  readonly report: Report;
  readonly cause: Outcome["cause"];
};

/** News of an attempt that was cut off. It counts whatever became of the run. */
export function spent(draft: Draft, signal: Signal & { type: "attempt.spent" }): string | undefined {
  const { stage, attempt, reported } = signal;
  if ((draft.run.stages[stage]?.attempts ?? 0) < attempt) return `${stage} has no attempt ${attempt}`;
  const [track, work] = tracksOf(draft)
    .map((name) => [name, findWork(draft.flow, draft.run, name, stage)] as const)
    .find(([, found]) => found !== undefined) ?? ["main", undefined];
  record(draft, { track, stage, agent: work?.agent ?? stage, attempt }, reported);
  return undefined;
}

function tracksOf({ flow }: Draft): readonly string[] {
  return ["main", ...flow.stages.flatMap((stage) => (stage.kind === "parallel" ? Object.keys(stage.tracks) : []))];
}

type Spender = { readonly track: string; readonly stage: string; readonly agent: string; readonly attempt: number };

function record(
  draft: Draft,
  { track, stage, agent, attempt }: Spender,
  { runner, model, usage }: ReportedUsage,
): void {
  const ticket = ticketKey(draft.run);
  emit(draft, {
    type: "usage.recorded",
    track,
    stage,
    attempt,
    agent,
    ticket,
    runner,
    model,
    usage: soundUsage(usage),
  });
}

/** The attempt stays where it is, with everything it was handed, until a person has decided. */
export function reached(draft: Draft, signal: Signal & { type: "budget.reached" }): string | undefined {
  const found = readyTrack(draft, signal);
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not ready`;
  const { stage, attempt, scope, key, unit, used, limit, needed, size } = signal;
  const who = draft.flow.escalation.notify;
  const item: InboxItem = {
    kind: "budget",
    number: draft.run.items + 1,
    stage,
    who,
    openedAt: draft.at,
    scope,
    key,
    unit,
    used,
    limit,
    needed,
    size,
    attempt,
  };
  emit(draft, { type: "budget.reached", track: found.name, item, carry: found.track.carry });
  showStatus(draft, draft.flow.words.status.waiting);
  const text = `${stage} does not start: ${overText(signal)}`;
  tell(draft, { to: who, event: "budget", text, item: item.number });
  return undefined;
}

/** The cause of an attempt that a budget ended in the middle of its work. */
export const OVER_BUDGET = "over_budget";

/** The attempt used up a limit. The next one resumes when a person has raised the limit or a new day has begun. */
export function reachedAtWork(
  draft: Draft,
  { track, stage, carry }: Ended & { readonly carry: Carry },
  limit: ReachedLimit,
): void {
  const told = reachedText(limit);
  const cutOff = `Your last session was stopped in the middle of its work because ${told}. There is room again: go on from the files as they are now.`;
  ready(draft, { track, stage, carry: { ...carry, cutOff } });
  const found = draft.run.tracks[track];
  if (found?.at !== "ready") return;
  const { scope, key, unit, used, limit: most, needed, size } = limit;
  const who = draft.flow.escalation.notify;
  const base = { kind: "budget", number: draft.run.items + 1, stage: stage.id, who, openedAt: draft.at } as const;
  const amounts = { scope, key, unit, used, limit: most, needed, size };
  const item: InboxItem = { ...base, ...amounts, attempt: found.attempt, stopped: true };
  emit(draft, { type: "budget.reached", track, item, carry: found.carry });
  showStatus(draft, draft.flow.words.status.waiting);
  tell(draft, { to: who, event: "budget", text: `${stage.id} was stopped: ${told}`, item: item.number });
}

export function neared(draft: Draft, signal: Signal & { type: "budget.neared" }): string | undefined {
  const { scope, key, unit, used, limit } = signal;
  const known = draft.run.warned?.some(
    (each) => each.scope === scope && each.key === key && each.unit === unit && each.limit === limit,
  );
  if (known === true) return "this was warned of already";
  emit(draft, { type: "budget.warned", scope, key, unit, used, limit });
  const share = limit === 0 ? 100 : Math.round((used / limit) * 100);
  const text = `${share} % of ${scopeText(scope, key)} is used or reserved: ${amountText(unit, used)} of ${amountText(unit, limit)}`;
  tell(draft, { to: draft.flow.escalation.notify, event: "budget.low", text });
  return undefined;
}

/** The run continues with the same attempt, without a person: no decision was made. */
export function renewed(draft: Draft, signal: Signal & { type: "budget.renewed" }): string | undefined {
  if (signal.actor !== "engine") return "only the engine finds room in a day's budget";
  const { number, because, usd, tokens } = signal;
  const [name, track] =
    Object.entries(draft.run.tracks).find(([, each]) => each.at === "waiting" && each.item.number === number) ?? [];
  if (name === undefined || track?.at !== "waiting" || track.item.kind !== "budget" || track.item.scope !== "day")
    return `item ${number} does not wait for a day's budget`;
  const { scope, key } = track.item;
  if (usd > 0 || tokens > 0) emit(draft, { type: "budget.raised", scope, key, usd, tokens });
  takeUp(draft, name, { ...track, item: track.item }, because);
  return undefined;
}

/** A person changes what the whole run may cost. Stages that wait for the run's budget try again; the store decides whether it has room now. */
export function budgetChanged(draft: Draft, signal: Signal & { type: "budget.requested" }): string | undefined {
  const { usd, tokens, actor } = signal;
  if (usd === 0 && tokens === 0) return "the run's budget is so already";
  emit(draft, { type: "budget.raised", scope: "run", key: draft.run.id, usd, tokens }, actor);
  for (const [name, track] of Object.entries(draft.run.tracks)) {
    if (track.at !== "waiting" || track.item.kind !== "budget" || track.item.scope !== "run") continue;
    const more = track.item.unit === "usd" ? usd : tokens;
    if (more > 0) takeUp(draft, name, { ...track, item: track.item }, "the run's budget was raised");
  }
  return undefined;
}

/** The same attempt, which has not started, is ready again. */
function takeUp(draft: Draft, name: string, { item, carry }: WaitsForMoney, because: string): void {
  const { number, stage, attempt } = item;
  emit(draft, { type: "item.withdrawn", track: name, number, reason: because });
  emit(draft, { type: "stage.ready", track: name, stage, attempt, carry });
  showStatus(draft, findWork(draft.flow, draft.run, name, stage)?.status.ready);
}

type Waiting = Track & { at: "waiting" };
type WaitsForMoney = Waiting & { item: { kind: "budget" } };

/** A person raises the limit for this run, or lets it stop. */
export function answerBudget(
  draft: Draft,
  track: string,
  { item, carry }: WaitsForMoney,
  signal: Signal & { type: "item.answered" },
): string | undefined {
  const { stage, number, scope, key, unit, size, attempt } = item;
  const answer = signal.answer;
  if (answer !== "raise" && answer !== "stop") return `"${answer}" is not offered; choices: raise, stop`;
  const amount = answer === "raise" ? readRaise(signal.text, unit, size) : 0;
  if (amount === undefined)
    return `"${signal.text}" is no amount in ${unit}; for example ${unit === "usd" ? "5 usd" : "200000 tokens"}`;
  emit(draft, { type: "budget.answered", track, stage, number, answer, note: signal.text }, signal.actor);
  if (answer === "stop") {
    const reason = `a person let it stop: ${overText(item)}`;
    emit(draft, { type: "stage.canceled", track, stage, attempt, reason });
    // The handoff that brought it stays open: a retry takes it up.
    emit(draft, { type: "stage.stopped", track, stage, reason, carry });
    showStatus(draft, draft.flow.words.status.stopped);
    tell(draft, { to: draft.flow.escalation.notify, event: "stopped", text: `${stage} stopped: ${reason}` });
    return undefined;
  }
  const amounts = unit === "usd" ? { usd: amount, tokens: 0 } : { usd: 0, tokens: amount };
  emit(draft, { type: "budget.raised", scope, key, ...amounts }, signal.actor);
  // The same attempt: it has not started.
  emit(draft, { type: "stage.ready", track, stage, attempt, carry });
  showStatus(draft, findWork(draft.flow, draft.run, track, stage)?.status.ready);
  return undefined;
}
