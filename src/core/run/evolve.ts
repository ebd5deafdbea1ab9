// Applies one event to a run. This file decides nothing: an event is a fact. Replaying a run is folding this function.

import { addSpent, withRaise } from "../budget/budget.ts";
import { withAcceptance, withFreshCount, withNotes, withReview } from "../finding/finding.ts";
import { isUnsigned, type Outcome } from "../flow/outcome.ts";
import type { EventType, RunEvent } from "./event.ts";
import { withHeard, withMessage, withoutHeard } from "./message.ts";
import { type OutwardAct, withSight } from "./outward-act.ts";
import { withDecision } from "./pinned.ts";
import { playersIn, withSettings } from "./renewed-settings.ts";
import {
  asksAtWork,
  asksPermission,
  PERMISSION_ANSWERS,
  type Run,
  type RunState,
  type StageMemory,
  type Track,
} from "./run.ts";
import type { JsonObject } from "../json.ts";
import { optional } from "../optional.ts";

export function evolve(run: Run | undefined, event: RunEvent): Run {
  if (event.type === "run.created") return created(event);
  if (run === undefined) throw new Error(`the first event of a run must be run.created, not ${event.type}`);
  if (!Object.hasOwn(APPLY, event.type)) throw new Error(`there is no event type ${event.type}`);
  // The table pairs each type with its event; the compiler cannot follow that through a lookup.
  const apply = APPLY[event.type] as (run: Run, event: RunEvent) => Run;
  return apply(run, event);
}

type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>;
type Applying = {
  readonly [T in Exclude<EventType, "run.created">]: (run: Run, event: EventOf<T>) => Run;
};

const APPLY: Applying = {
  "run.imported": (run, { type: _type, at: _at, actor: _actor, ...mark }) => ({
    ...run,
    imported: mark,
    ...(mark.spent === null ? {} : { spent: mark.spent }),
  }),
  "run.waiting": (run, { at }) => enterState(run, { status: "waiting", since: at }),
  "run.resumed": (run) => enterState(run, { status: "running" }),
  "run.stopped": (run, { at, reason }) => enterState(run, { status: "stopped", since: at, reason }),
  "run.completed": (run, { at }) => enterState({ ...run, tracks: {} }, { status: "completed", endedAt: at }),
  "run.canceled": (run, { at, actor, reason }) =>
    enterState({ ...run, tracks: {} }, { status: "canceled", endedAt: at, by: actor, reason }),
  "run.paused": (run) => ({ ...run, paused: true }),
  "run.unpaused": (run) => ({ ...run, paused: false }),
  "run.stalled": unchanged,
  "stage.ready": stageReady,
  "stage.held": stageHeld,
  "stage.released": stageReleased,
  "stage.started": stageStarted,
  "stage.finished": stageFinished,
  "stage.interrupted": (run, { stage }) =>
    remember(run, stage, { interruptions: (run.stages[stage]?.interruptions ?? 0) + 1 }),
  "stage.moved": unchanged,
  "stage.postponed": (run, { stage, times }) => remember(run, stage, { postponed: times }),
  "stage.stopped": (run, { track, stage, reason, carry, at }) =>
    onTrack(run, track, { at: "stopped", stage, reason, carry, since: at }),
  "stage.taken_over": (run, { track, stage, attempt, carry, at, actor }) =>
    onTrack(run, track, { at: "taken", stage, attempt, carry, since: at, by: personOf(actor) }),
  "takeover.prepared": (run, { track, lent }) => onTaken(run, track, (taken) => ({ ...taken, lent })),
  "handback.requested": (run, { track, note, discard, actor }) =>
    onTaken(run, track, ({ refused: _before, ...taken }) => ({
      ...taken,
      returning: { by: personOf(actor), note, discard },
    })),
  "handback.refused": (run, { track, reason }) =>
    onTaken(run, track, ({ returning: _asked, ...taken }) => ({ ...taken, refused: reason })),
  "stage.handed_back": unchanged,
  "stage.expanded": (run, { stage, stages }) => ({ ...run, expanded: { ...run.expanded, [stage]: stages } }),
  "stage.timed_out": unchanged,
  "stage.canceled": unchanged,
  "stage.skipped": unchanged,
  "tracks.forked": (run, { stage }) => onTrack(run, "main", { at: "forked", stage }),
  "track.done": (run, { track }) => onTrack(run, track, { at: "done" }),
  "tracks.joined": unchanged,
  "handoff.created": (run, { number }) => ({ ...run, handoffs: number }),
  "handoff.accepted": unchanged,
  "handoff.rejected": unchanged,
  "handoff.withdrawn": unchanged,
  "handoff.expired": unchanged,
  "gate.opened": itemOpened,
  "gate.answered": unchanged,
  "question.asked": questionAsked,
  "question.answered": (run, { track, number, answer, inPlace }) => closeAsked(run, track, number, { answer, inPlace }),
  "question.expired": questionExpired,
  "question.kept": itemKept,
  "inputs.decided": (run, { decision, changes }) => ({ ...run, facts: withDecision(run, decision, changes) }),
  "escalation.opened": itemOpened,
  // A person has looked: returning findings are counted anew from here on.
  "escalation.resolved": (run, { stage }) =>
    run.findings === undefined ? run : { ...run, findings: withFreshCount(run.findings, stage) },
  "budget.reached": itemOpened,
  "budget.answered": unchanged,
  "budget.raised": (run, { scope, key, usd, tokens }) => ({
    ...run,
    raised: withRaise(run.raised ?? [], { scope, key, usd, tokens }),
  }),
  "budget.warned": budgetWarned,
  "usage.recorded": (run, { usage }) => ({ ...run, spent: addSpent(run.spent, usage) }),
  "item.withdrawn": (run, { track, number }) => closeAsked(run, track, number, undefined),
  "counter.changed": (run, { key, to, issues, streak }) => ({
    ...run,
    counters: { ...run.counters, [key]: { loops: to, ...optional({ issues }), streak } },
  }),
  "counter.spent": unchanged,
  "findings.reviewed": (run, { stage, track, attempt, raised, judged }) => ({
    ...run,
    findings: withReview(run.findings, { stage, track, attempt, raised, judged }),
  }),
  "findings.answered": (run, { stage, attempt, notes }) => ({
    ...run,
    findings: withNotes(run.findings, { stage, attempt }, notes),
  }),
  "findings.accepted": (run, { ids, actor }) => ({ ...run, findings: withAcceptance(run.findings, ids, actor) }),
  "way.taken": (run, { way }) => ({ ...run, taken: [...run.taken, way] }),
  "ticket.edited": (run, { title, body }) => ({ ...run, subject: { ...run.subject, title, body } }),
  "settings.renewed": (run, { config, runners }) => ({ ...run, facts: withSettings(run.facts, { config, runners }) }),
  "runners.chosen": (run, { runners }) => ({
    ...run,
    facts: {
      ...run.facts,
      runners: { ...given(run, "runners"), ...runners },
      // An older run did not keep what people chose apart from the settings.
      ...(run.facts["chosen"] === undefined ? {} : { chosen: { ...given(run, "chosen"), ...playersIn(runners) } }),
    },
  }),
  "message.sent": (run, { number, stage, text, at, actor }) => ({
    ...run,
    messages: withMessage(run.messages, { number, stage, from: personOf(actor), text, at }),
  }),
  "message.delivered": (run, { number, attempt, way }) =>
    run.messages === undefined ? run : { ...run, messages: withHeard(run.messages, number, { attempt, way }) },
  "outward.intended": (run, { type: _type, at, actor: _actor, ...act }) =>
    withActs(run, [...(run.outward ?? []), { ...act, intendedAt: at }]),
  "outward.seen": (run, { key, sight }) => withActs(run, withSight(run.outward ?? [], key, sight)),
  "status.changed": (run, { to }) => ({ ...run, word: to }),
  "work.undone": unchanged,
  "warning.raised": unchanged,
  "signal.ignored": unchanged,
};

function given({ facts }: Run, name: "runners" | "chosen"): JsonObject {
  const found = facts[name];
  return found === null || typeof found !== "object" || Array.isArray(found) ? {} : (found as JsonObject);
}

/** The event is part of the history only. */
function unchanged(run: Run): Run {
  return run;
}

function created(event: EventOf<"run.created">): Run {
  return {
    status: "running",
    id: event.id,
    flow: event.flow,
    flowHash: event.flowHash,
    subject: event.subject,
    facts: event.facts,
    createdAt: event.at,
    word: event.word,
    paused: false,
    tracks: {},
    stages: {},
    counters: {},
    taken: [],
    expanded: {},
    handoffs: 0,
    items: 0,
  };
}

function stageReady(run: Run, event: EventOf<"stage.ready">): Run {
  const { track, stage, attempt, carry, at, notBefore, because, runner } = event;
  return onTrack(remember(run, stage, { attempts: attempt }), track, {
    at: "ready",
    stage,
    attempt,
    carry,
    since: at,
    ...optional({ notBefore, because, runner }),
  });
}

function stageHeld(run: Run, event: EventOf<"stage.held">): Run {
  const track = run.tracks[event.track];
  if (track?.at !== "ready") return run;
  const { until: notBefore, cause: because, runner, ladder } = event;
  return onTrack(run, event.track, { ...track, notBefore, because, runner, ...optional({ ladder }) });
}

function stageReleased(run: Run, event: EventOf<"stage.released">): Run {
  const track = run.tracks[event.track];
  if (track?.at !== "ready") return run;
  const { notBefore: _until, because: _cause, runner: _runner, ladder: _ladder, ...rest } = track;
  return onTrack(run, event.track, rest);
}

function stageStarted(run: Run, event: EventOf<"stage.started">): Run {
  const track = run.tracks[event.track];
  if (track?.at !== "ready") return run;
  const { stage, attempt, carry } = track;
  const { reserved } = event;
  return onTrack(run, event.track, {
    at: "running",
    stage,
    attempt,
    carry,
    since: event.at,
    ...(reserved === undefined ? {} : { metered: { runner: reserved.runner, model: reserved.model } }),
    ...optional({ rung: event.rung, outside: event.outside }),
  });
}

function stageFinished(before: Run, { stage, outcome }: EventOf<"stage.finished">): Run {
  // From here on the stage's own report says where the work is.
  const run =
    outcome.verdict === "pass" ? withActs(before, before.outward?.filter((act) => act.stage !== stage) ?? []) : before;
  return remember(forgetPostponed(withMessagesOf(run, stage, outcome), stage), stage, {
    interruptions: 0,
    last: {
      health: outcome.health,
      ...optional({ verdict: outcome.verdict, word: outcome.word, score: outcome.score }),
      issues: outcome.issues.length,
      openQuestions: outcome.questions.length,
      ...(isUnsigned(outcome.heard) ? { unsigned: true as const } : {}),
    },
  });
}

function withMessagesOf(run: Run, stage: string, { health }: Outcome): Run {
  if (run.messages === undefined || health === "failed") return run;
  return { ...run, messages: withoutHeard(run.messages, stage) };
}

function itemOpened(
  run: Run,
  event: EventOf<"gate.opened" | "question.asked" | "escalation.opened" | "budget.reached">,
): Run {
  const { track, item, carry } = event;
  return onTrack({ ...run, items: item.number }, track, { at: "waiting", stage: item.stage, item, carry });
}

/** Most questions come after the work; some come in the middle of it, from an agent that waits. */
function questionAsked(run: Run, event: EventOf<"question.asked">): Run {
  const track = run.tracks[event.track];
  const { item } = event;
  if (track?.at !== "running" || !(asksPermission(item) || asksAtWork(item))) return itemOpened(run, event);
  return onTrack({ ...run, items: item.number }, event.track, { ...track, asks: item });
}

function questionExpired(run: Run, { track: name, number }: EventOf<"question.expired">): Run {
  const track = run.tracks[name];
  const asks = track?.at === "running" ? track.asks : undefined;
  if (track?.at !== "running" || asks?.kind !== "question" || asks.number !== number) return run;
  return onTrack(run, name, { ...track, asks: { ...asks, live: { ...asks.live, isOver: true } } });
}

/** Its number was counted when it was asked. */
function itemKept(run: Run, { track, item, carry }: EventOf<"question.kept">): Run {
  return onTrack(run, track, { at: "waiting", stage: item.stage, item, carry });
}

type ClosedWith = { readonly answer: string; readonly inPlace: true | undefined };

/** The answer stays until the next request, or the end of the attempt. Without one the item was withdrawn. */
function closeAsked(run: Run, name: string, number: number, closed: ClosedWith | undefined): Run {
  const track = run.tracks[name];
  if (track?.at !== "running" || track.asks?.number !== number) return run;
  const { asks, ...rest } = track;
  if (closed === undefined) return onTrack(run, name, rest);
  const { answer, inPlace } = closed;
  if (asks.kind === "question") {
    const { questions, openedAt, live } = asks;
    const answered = { number, request: live.request, questions, answer, openedAt, inPlace: inPlace === true };
    return onTrack(run, name, { ...rest, answered });
  }
  const given = PERMISSION_ANSWERS.find((each) => each === answer);
  const permitted = given === undefined ? {} : { permitted: { request: asks.permission.request, answer: given } };
  return onTrack(run, name, { ...rest, ...permitted });
}

type TakenTrack = Track & { at: "taken" };

function onTaken(run: Run, name: string, change: (track: TakenTrack) => TakenTrack): Run {
  const track = run.tracks[name];
  return track?.at === "taken" ? onTrack(run, name, change(track)) : run;
}

/** The person, without the kind of actor. */
function personOf(actor: string): string {
  return actor.slice(actor.indexOf(":") + 1);
}

function budgetWarned(run: Run, { scope, key, unit, limit }: EventOf<"budget.warned">): Run {
  const others = (run.warned ?? []).filter((each) => each.scope !== scope || each.unit !== unit);
  return { ...run, warned: [...others, { scope, key, unit, limit }] };
}

/** The fields that a run may lack: a field that `enterState` forgets is an error of the compiler. */
type LaterFields = { readonly [K in keyof Run as object extends Pick<Run, K> ? K : never]-?: Run[K] | undefined };

/**
 * Leaving a status leaves its fields behind. Every other field is named, because copying "all but these" costs as much as the rest of
 * the decision. The order of the keys is fixed, status first and sums last: a stored run is compared with the fold of its events byte for
 * byte.
 */
function enterState(run: Run, state: RunState): Run {
  const { id, flow, flowHash, subject, facts, createdAt, word, paused, tracks, stages, counters } = run;
  const { taken, expanded, handoffs, items, spent, raised, warned, outward, findings, messages, imported } = run;
  const later: LaterFields = { spent, raised, warned, outward, findings, messages, imported };
  return {
    ...state,
    id,
    flow,
    flowHash,
    subject,
    facts,
    createdAt,
    word,
    paused,
    tracks,
    stages,
    counters,
    taken,
    expanded,
    handoffs,
    items,
    ...optional(later),
  };
}

function onTrack(run: Run, name: string, track: Track): Run {
  return { ...run, tracks: { ...run.tracks, [name]: track } };
}

function withActs(run: Run, acts: readonly OutwardAct[]): Run {
  if (acts.length > 0) return { ...run, outward: acts };
  if (run.outward === undefined) return run;
  const { outward: _acts, ...rest } = run;
  return rest;
}

/** The attempt ended on its own, so its series of postponements ends, unless the engine postpones this one as well. */
function forgetPostponed(run: Run, stage: string): Run {
  const memory = run.stages[stage];
  if (memory?.postponed === undefined) return run;
  const { postponed: _row, ...rest } = memory;
  return { ...run, stages: { ...run.stages, [stage]: rest } };
}

function remember(run: Run, stage: string, change: Partial<StageMemory>): Run {
  const before = run.stages[stage] ?? { attempts: 0, interruptions: 0 };
  return { ...run, stages: { ...run.stages, [stage]: { ...before, ...change } } };
}
