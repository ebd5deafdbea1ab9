// The one rule: (flow, run, signal) -> the new run, its events and the commands that follow. Pure, and the only place where a run changes.
// A signal that does not fit (late, repeated, from the wrong sender) is recorded as ignored. routing.ts decides where a run goes next.

import { answered } from "./answers.ts";
import type { Reserved } from "../budget/budget.ts";
import { inputsChanged } from "./changed-inputs.ts";
import type { Command } from "./command.ts";
import { type Draft, emit, showStatus, tell } from "./draft.ts";
import { edited, noticed } from "./edits.ts";
import type { Actor, RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import type { Flow, Stage, WorkStage } from "../flow/flow.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { judge } from "../verdict/judge.ts";
import type { Outcome } from "../flow/outcome.ts";
import { handOffAgain, type Sender, senderOf } from "./handoff.ts";
import { resumed, retried, skipped, stoppedByHand } from "./interventions.ts";
import { discardRequested, followActs, intended, seenOutside, undoRequested } from "./outward-rules.ts";
import { messageHeard, steered } from "./steering.ts";
import {
  handbackFailed,
  handbackRequested,
  handbackSettled,
  takeoverFailed,
  takeoverPrepared,
  takeoverRequested,
} from "./takeover.ts";
import { heldToFindings, recordFindings } from "./review.ts";
import { questionExpired, questionRequested, withAnswer } from "./live-question.ts";
import { isAsking, permissionExpired, permissionRequested, withdrawUnasked } from "./permission.ts";
import { isAccountLimit, postponement } from "./postponement.ts";
import { optional } from "../optional.ts";
import { askBack, cancel, type EndedAttempt, enter, ready, routeOutcome, routeUntaken, stop, warn } from "./routing.ts";
import type { Carry, Run, Track } from "./run.ts";
import { isEnded, pendingInputs, takenOver } from "./run.ts";
import type { TakenRung } from "../flow/ladder.ts";
import { mayMove } from "./rung.ts";
import { conditionHolds, expand, factOf, findStage, findWork, isWork } from "./sequence.ts";
import type { Signal } from "./signal.ts";
import { OVER_BUDGET, budgetChanged, neared, reached, reachedAtWork, renewed, settleUsage, spent } from "./spending.ts";
import { held, released } from "./waiting-for-runner.ts";

export type Step = {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly commands: readonly Command[];
  /** Why the signal changed nothing; undefined when it was applied. */
  readonly ignored?: string;
};

export function transition(flow: Flow, run: Run | undefined, signal: Signal): Step {
  if (signal.type === "run.requested")
    return run === undefined ? create(flow, signal) : ignore(run, signal, "the run exists already");
  if (run === undefined) throw new Error(`the first signal of a run must be run.requested, not ${signal.type}`);
  if (run.imported !== undefined) return ignore(run, signal, IMPORTED);
  if (isNews(signal)) return takeNews(flow, run, signal);
  if (isEnded(run)) return ignore(run, signal, `the run is ${run.status}`);
  const draft: Draft = { flow, at: signal.at, run, events: [], commands: [] };
  const refused = apply(draft, signal);
  if (refused !== undefined) return ignore(run, signal, refused);
  withdrawUnasked(draft, run);
  settle(draft);
  followActs(draft, run);
  return { run: draft.run, events: draft.events, commands: draft.commands };
}

const IMPORTED = "the run was imported from a file, for looking at and for replays";

/** Facts about the outside, which count even after the run has ended: usage, and what became of acts outside. */
type News = Extract<
  Signal,
  {
    type:
      | "attempt.spent"
      | "message.heard"
      | "outward.intended"
      | "outward.seen"
      | "undo.requested"
      | "discard.requested";
  }
>;

const NEWS: ReadonlySet<Signal["type"]> = new Set<News["type"]>([
  "attempt.spent",
  "message.heard",
  "outward.intended",
  "outward.seen",
  "undo.requested",
  "discard.requested",
]);

function isNews(signal: Exclude<Signal, { type: "run.requested" }>): signal is News {
  return NEWS.has(signal.type);
}

function takeNews(flow: Flow, run: Run, signal: News): Step {
  const draft: Draft = { flow, at: signal.at, run, events: [], commands: [] };
  const refused = applyNews(draft, signal);
  if (refused !== undefined) return ignore(run, signal, refused);
  return { run: draft.run, events: draft.events, commands: draft.commands };
}

function applyNews(draft: Draft, signal: News): string | undefined {
  switch (signal.type) {
    case "attempt.spent":
      return spent(draft, signal);
    case "message.heard":
      return messageHeard(draft, signal);
    case "outward.intended":
      return intended(draft, signal);
    case "outward.seen":
      return seenOutside(draft, signal);
    case "undo.requested":
      return signal.actor.startsWith("human:") ? undoRequested(draft, signal) : "only a person can do this";
    case "discard.requested":
      return signal.actor.startsWith("human:") ? discardRequested(draft, signal) : "only a person can do this";
  }
}

/** No agent, timer or crash can take these decisions. */
const PEOPLE_ONLY: ReadonlySet<Signal["type"]> = new Set([
  "item.answered",
  "budget.requested",
  "retry.requested",
  "skip.requested",
  "stop.requested",
  "steer.requested",
  "takeover.requested",
  "handback.requested",
  "resume.requested",
  "ticket.edited",
]);

/** Applies a signal to the draft, or returns why it does not fit. A refusal comes before any event. */
function apply(draft: Draft, signal: Exclude<Signal, { type: "run.requested" | News["type"] }>): string | undefined {
  if (PEOPLE_ONLY.has(signal.type) && !signal.actor.startsWith("human:")) return "only a person can do this";
  switch (signal.type) {
    case "attempt.started":
      return started(draft, signal);
    case "attempt.finished":
      return finished(draft, signal);
    case "attempt.interrupted":
      return interrupted(draft, signal);
    case "attempt.silent":
      return fellSilent(draft, signal);
    case "attempt.held":
      return held(draft, signal);
    case "hold.lifted":
      return released(draft, signal);
    case "budget.reached":
      return reached(draft, signal);
    case "budget.neared":
      return neared(draft, signal);
    case "budget.renewed":
      return renewed(draft, signal);
    case "budget.requested":
      return budgetChanged(draft, signal);
    case "inputs.changed":
      return inputsChanged(draft, signal);
    case "item.answered":
      return answered(draft, signal);
    case "permission.requested":
      return permissionRequested(draft, signal);
    case "permission.expired":
      return permissionExpired(draft, signal);
    case "question.requested":
      return questionRequested(draft, signal);
    case "question.expired":
      return questionExpired(draft, signal);
    case "pause.requested":
      if (draft.run.paused) return "the run is paused already";
      emit(draft, { type: "run.paused", reason: signal.reason }, signal.actor);
      return undefined;
    case "stop.requested":
      return stoppedByHand(draft, signal);
    case "resume.requested":
      return resumed(draft, signal);
    case "cancel.requested":
      cancel(draft, signal.actor, signal.reason);
      return undefined;
    case "retry.requested":
      return retried(draft, signal);
    case "skip.requested":
      return skipped(draft, signal);
    case "steer.requested":
      return steered(draft, signal);
    case "takeover.requested":
      return takeoverRequested(draft, signal);
    case "takeover.prepared":
      return takeoverPrepared(draft, signal);
    case "takeover.failed":
      return takeoverFailed(draft, signal);
    case "handback.requested":
      return handbackRequested(draft, signal);
    case "handback.settled":
      return handbackSettled(draft, signal);
    case "handback.failed":
      return handbackFailed(draft, signal);
    case "handoff.expired":
      return expired(draft, signal);
    case "stall.noticed":
      return stalled(draft, signal.since);
    case "ticket.edited":
      return edited(draft, signal);
    case "warning.noticed":
      return noticed(draft, signal);
  }
}

/** The run continues; a person gets a notice that it shows no sign of life. */
function stalled(draft: Draft, since: string): string | undefined {
  if (draft.run.status !== "running") return "the run does not work";
  if (takenOver(draft.run) !== undefined) return "a person has taken it over";
  if (isAsking(draft.run)) return "its agent waits for a person";
  emit(draft, { type: "run.stalled", since });
  showStatus(draft, draft.flow.words.status.stalled);
  const text = `nothing has happened since ${since}; see passrail runs show ${draft.run.id}`;
  tell(draft, { to: draft.flow.escalation.notify, event: "stalled", text });
  return undefined;
}

function create(flow: Flow, signal: Signal & { type: "run.requested" }): Step {
  const { runId: id, flowHash, subject, facts } = signal;
  const word = flow.words.status.queued ?? flow.words.status.running ?? "queued";
  const created: RunEvent = {
    type: "run.created",
    id,
    flow: flow.name,
    flowHash,
    subject,
    facts,
    word,
    at: signal.at,
    actor: signal.actor,
  };
  const run = evolve(undefined, created);
  const draft: Draft = { flow, at: signal.at, run, events: [created], commands: [] };
  if (signal.paused !== undefined) emit(draft, { type: "run.paused", reason: signal.paused.reason }, signal.paused.by);
  const entry = entryStage(flow, run);
  const carry: Omit<Carry, "handoff"> = {
    from: "",
    reason: "first",
    names: [],
    issues: [],
    questions: [],
    loop: 0,
    loopMax: null,
  };
  const sender: Sender = { track: MAIN_TRACK, stage: entry.stage, attempt: 0, carry };
  if (entry.refused === undefined) enter(draft, sender, { track: MAIN_TRACK, stage: entry.stage, reason: "first" });
  else stop(draft, sender, undefined, entry.refused);
  settle(draft);
  return { run: draft.run, events: draft.events, commands: draft.commands };
}

/** The first stage, or the one that the flow's `enter` names for the ticket's status. */
function entryStage(flow: Flow, run: Run): { readonly stage: Stage; readonly refused?: string } {
  const first = flow.stages.find((stage) => !stage.enterOnly) ?? flow.stages[0];
  if (first === undefined) throw new Error(`flow ${flow.name} has no stages`);
  const words = Object.keys(flow.enter);
  const status = factOf(run, ["ticket", "status"]) ?? words[0];
  if (words.length === 0 || typeof status !== "string") return { stage: first };
  const rule = flow.enter[status]?.find(({ when }) => when === undefined || conditionHolds(run, when));
  const stage = flow.stages.find(({ id }) => id === rule?.stage);
  if (stage !== undefined) return { stage };
  return {
    stage: first,
    refused: `a ticket in status "${status}" is not started; statuses that start: ${words.join(", ")}`,
  };
}

function started(draft: Draft, signal: Signal & { type: "attempt.started" }): string | undefined {
  const found = trackOf(draft.run, signal.stage, signal.attempt, "ready");
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not ready`;
  const { name, track } = found;
  const taken = takenOver(draft.run)?.track;
  if (taken !== undefined) return `${taken.by} has taken over ${taken.stage}`;
  if (pendingInputs(draft.run) !== undefined) return "files of its start have changed, and a person decides first";
  const refused = signal.outside === true ? refuseOutside(draft, track) : undefined;
  if (refused !== undefined) return refused;
  const booked = optional({ reserved: signal.reserved, rung: signal.rung });
  begin(draft, name, track, signal.outside === true ? { outside: true, by: signal.actor } : booked);
  return undefined;
}

/** A pause or a postponement holds back outside workers too. */
function refuseOutside(draft: Draft, { stage, notBefore }: Track & { at: "ready" }): string | undefined {
  if (draft.run.paused) return "the run is paused";
  if (notBefore !== undefined && notBefore > draft.at) return `${stage} is put off until ${notBefore}`;
  return undefined;
}

type Beginning = { readonly reserved?: Reserved; readonly rung?: TakenRung } | Outside;

/** `refuses`: it sends the work back at once, so that its handoff is rejected without having been accepted. */
type Outside = { readonly outside: true; readonly by: Actor; readonly refuses?: boolean };

function begin(draft: Draft, name: string, track: Track & { at: "ready" }, how: Beginning): void {
  const { stage, attempt, carry } = track;
  const [actor, facts] = "outside" in how ? [how.by, { outside: how.outside }] : [undefined, how];
  emit(draft, { type: "stage.started", track: name, stage, attempt, ...facts }, actor);
  const isAccepted = carry.handoff > 0 && !("outside" in how && how.refuses === true);
  if (isAccepted) emit(draft, { type: "handoff.accepted", track: name, number: carry.handoff }, actor);
  const work = findWork(draft.flow, draft.run, name, stage);
  showStatus(draft, work?.status.running ?? draft.flow.words.status.running);
}

function finished(draft: Draft, signal: Signal & { type: "attempt.finished" }): string | undefined {
  const waiting = signal.outside === true ? trackOf(draft.run, signal.stage, signal.attempt, "ready") : undefined;
  if (waiting !== undefined) {
    const refused = refuseOutside(draft, waiting.track);
    if (refused !== undefined) return refused;
    const work = findWork(draft.flow, draft.run, waiting.name, signal.stage);
    if (work === undefined) return `the flow has no stage ${signal.stage}`;
    const refuses = sendsBack(work, waiting.track.carry, outcomeOf(draft, work, signal));
    begin(draft, waiting.name, waiting.track, { outside: true, by: signal.actor, refuses });
  }
  const found = trackOf(draft.run, signal.stage, signal.attempt, "running");
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not running`;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, signal.stage);
  if (stage === undefined) return `the flow has no stage ${signal.stage}`;
  const outcome = outcomeOf(draft, stage, signal);
  const { attempt, report } = signal;
  const ended = { track: name, stage, attempt, carry: track.carry };
  const before = draft.run.stages[stage.id]?.postponed;
  emit(draft, { type: "stage.finished", track: name, stage: stage.id, attempt, outcome }, signal.actor);
  settleUsage(draft, ended, { metered: track.metered, report, cause: outcome.cause });
  if (outcome.cause !== undefined && outcome.cause.endsWith("timeout")) {
    emit(draft, { type: "stage.timed_out", track: name, stage: stage.id, attempt, cause: outcome.cause });
  }
  if (outcome.undone !== undefined)
    emit(draft, { type: "work.undone", track: name, stage: stage.id, attempt, ...outcome.undone });
  for (const warning of outcome.warnings) {
    const [code = ""] = warning.split(": ", 1);
    warn(draft, stage.id, /^[a-z_]{1,60}$/u.test(code) ? code : "warning", warning);
  }
  if (report.reached !== undefined && outcome.cause === OVER_BUDGET) {
    reachedAtWork(draft, ended, report.reached);
    return undefined;
  }
  if (signal.next !== undefined && mayMove(outcome.cause)) {
    const { cause = "", reason = "" } = outcome;
    const from = track.metered?.runner ?? "";
    emit(draft, { type: "stage.moved", track: name, stage: stage.id, attempt, cause, reason, from, to: signal.next });
    ready(draft, ended);
    return undefined;
  }
  const later = postponement(outcome.cause, before, signal.at, report.resetsAt);
  if (later !== undefined) {
    const { cause = "", reason = "" } = outcome;
    emit(draft, { type: "stage.postponed", track: name, stage: stage.id, attempt, cause, reason, ...later });
    const runner = isAccountLimit(cause) ? track.metered?.runner : undefined;
    ready(draft, ended, { notBefore: later.until, because: cause, ...optional({ runner }) });
    return undefined;
  }
  if (stage.kind === "router" && outcome.stages !== undefined && outcome.health === "complete") {
    emit(draft, { type: "stage.expanded", track: name, stage: stage.id, stages: expand(draft.flow, outcome.stages) });
  }
  if (sendsBack(stage, track.carry, outcome)) {
    const reason = outcome.reason ?? outcome.summary ?? "sent back";
    emit(draft, { type: "handoff.rejected", track: name, number: track.carry.handoff, reason });
  }
  // A review file is itself the feedback; any other way to send work back names its issues.
  if (outcome.verdict === "revise" && outcome.issues.length === 0 && stage.result.from !== "file-verdict") {
    warn(
      draft,
      stage.id,
      "issues_empty",
      `${stage.id} asked for changes without naming an issue; its whole answer is carried instead`,
    );
  }
  recordFindings(draft, ended, outcome);
  if (outcome.asked === true && stage.route["blocked"]?.ask === undefined) askBack(draft, ended, outcome);
  else routeOutcome(draft, ended, outcome);
  compareClaims(draft, ended, outcome);
  return undefined;
}

function outcomeOf({ flow, run }: Draft, stage: WorkStage, { report }: Signal & { type: "attempt.finished" }): Outcome {
  return heldToFindings(run, stage, judge(flow.words, stage, report));
}

/** The receiver refuses its handoff, and the work returns to the sender. */
function sendsBack(stage: WorkStage, carry: Carry, outcome: Outcome): boolean {
  // It took the work and passed; only Passrail's own look at it says otherwise.
  if (outcome.verdict !== "revise" || carry.handoff === 0 || outcome.contradicted === true) return false;
  const goto = stage.route["revise"]?.goto;
  // The first stage has no sender: a person gets the work it refuses.
  if (senderOf(carry) === "" && goto === "escalate") return true;
  return goto === senderOf(carry) || goto === "prev" || goto?.startsWith("agent:") === true;
}

/** Compares the agent's claims about routing and never obeys them. */
function compareClaims(
  draft: Draft,
  { track: name, stage: { id: stage, result }, carry }: EndedAttempt,
  outcome: Outcome,
): void {
  const { claimed } = outcome;
  if (claimed === undefined) return;
  const track = draft.run.tracks[name];
  const next =
    track !== undefined && "stage" in track ? findStage(draft.flow, draft.run, name, track.stage) : undefined;
  const mismatches: string[] = [];
  // The iteration of a handoff file is the attempt's number, and was compared when the file was read.
  if (result.from !== "handoff-file" && claimed.loop !== undefined && claimed.loop !== carry.loop)
    mismatches.push(`loop ${claimed.loop}, it is ${carry.loop}`);
  if (claimed.next !== undefined && next !== undefined && isWork(next) && claimed.next.toLowerCase() !== next.agent) {
    mismatches.push(`next agent ${claimed.next}, it is ${next.shownAgent}`);
  }
  const word = next !== undefined && isWork(next) ? (next.status.running ?? draft.run.word) : draft.run.word;
  if (claimed.status !== undefined && claimed.status !== word)
    mismatches.push(`status ${claimed.status}, it is ${word}`);
  if (mismatches.length > 0) warn(draft, stage, "claim_ignored", `${stage} claims ${mismatches.join("; ")}`);
}

function interrupted(draft: Draft, signal: Signal & { type: "attempt.interrupted" }): string | undefined {
  const found = trackOf(draft.run, signal.stage, signal.attempt, "running");
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not running`;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, signal.stage);
  if (stage === undefined) return `the flow has no stage ${signal.stage}`;
  emit(draft, {
    type: "stage.interrupted",
    track: name,
    stage: stage.id,
    attempt: signal.attempt,
    cause: signal.cause,
  });
  const times = draft.run.stages[stage.id]?.interruptions ?? 0;
  if (times > draft.flow.maxInterruptions) {
    const sender: Sender = { track: name, stage, attempt: signal.attempt, carry: track.carry };
    stop(draft, sender, undefined, `${stage.id} was interrupted ${times} times in a row (${signal.cause})`);
    return undefined;
  }
  ready(draft, { track: name, stage, carry: withAnswer(track.carry, track) });
  return undefined;
}

/** Takebacks in a row before a person is asked, where the flow names no number. */
const TAKEBACKS = 2;

/**
 * An agent outside took the work and fell silent. The work is taken back and handed over again; when that has happened too often in a
 * row, the stage has failed, and the flow or a person decides. A late report of the silent agent counts if no other agent has taken the work.
 */
function fellSilent(draft: Draft, signal: Signal & { type: "attempt.silent" }): string | undefined {
  const { attempt, reason } = signal;
  const found = trackOf(draft.run, signal.stage, attempt, "running");
  if (found === undefined) return `attempt ${attempt} of ${signal.stage} is not running`;
  const { name, track } = found;
  if (track.outside !== true) return `attempt ${attempt} of ${signal.stage} is carried out here`;
  const stage = findWork(draft.flow, draft.run, name, signal.stage);
  if (stage === undefined) return `the flow has no stage ${signal.stage}`;
  const { carry } = track;
  if (carry.handoff > 0)
    emit(draft, { type: "handoff.expired", track: name, number: carry.handoff, reason }, signal.actor);
  const times = draft.run.stages[stage.id]?.interruptions ?? 0;
  if (times < (draft.flow.handoffs.takebacks ?? TAKEBACKS)) {
    emit(draft, { type: "stage.interrupted", track: name, stage: stage.id, attempt, cause: reason });
    ready(draft, { track: name, stage, carry: { ...carry, handoff: handOffAgain(draft, name, stage, carry) } });
    return undefined;
  }
  const sender: Sender = { track: name, stage, attempt, carry: { ...carry, untaken: true } };
  failUntaken(draft, sender, "lease_expired", reason, signal.actor);
  return undefined;
}

/** A handoff was not taken. It does not return to its sender: the flow, or a person, decides how the stage continues. */
function expired(draft: Draft, signal: Signal & { type: "handoff.expired" }): string | undefined {
  const { number, reason } = signal;
  const [name, track] =
    Object.entries(draft.run.tracks).find(([, each]) => each.at === "ready" && each.carry.handoff === number) ?? [];
  if (name === undefined || track?.at !== "ready" || number === 0) return `handoff ${number} does not wait to be taken`;
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `the flow has no stage ${track.stage}`;
  const { attempt } = track;
  const sender: Sender = { track: name, stage, attempt, carry: { ...track.carry, untaken: true } };
  emit(draft, { type: "handoff.expired", track: name, number, reason }, signal.actor);
  if (signal.then === "stop") {
    emit(draft, { type: "stage.canceled", track: name, stage: stage.id, attempt, reason }, signal.actor);
    stop(draft, sender, undefined, reason);
    return undefined;
  }
  failUntaken(draft, sender, "handoff_timeout", reason, signal.actor);
  return undefined;
}

/** No agent does the work of a handoff: the stage fails by the flow's route for that, or a person is asked. */
function failUntaken(draft: Draft, sender: Sender, cause: string, reason: string, actor: Actor): void {
  const { track, attempt } = sender;
  const { id: stage } = sender.stage;
  const outcome: Outcome = { health: "failed", cause, reason, issues: [], questions: [], warnings: [] };
  emit(draft, { type: "stage.finished", track, stage, attempt, outcome }, actor);
  emit(draft, { type: "stage.timed_out", track, stage, attempt, cause });
  routeUntaken(draft, sender, outcome);
}

/** Records the run's overall state: working, waiting for people, or stopped. */
function settle(draft: Draft): void {
  if (isEnded(draft.run)) return;
  const tracks = Object.values(draft.run.tracks);
  const items = tracks.flatMap((track) => (track.at === "waiting" ? [track.item] : []));
  const stopped = tracks.find((track) => track.at === "stopped");
  if (tracks.some(({ at }) => at === "ready" || at === "running" || at === "taken")) {
    if (draft.run.status !== "running") emit(draft, { type: "run.resumed" });
  } else if (items.length > 0) {
    if (draft.run.status !== "waiting") emit(draft, { type: "run.waiting", for: items.map((item) => item.kind) });
  } else if (stopped !== undefined && draft.run.status !== "stopped") {
    emit(draft, { type: "run.stopped", reason: stopped.reason });
  }
}

function trackOf<A extends "ready" | "running">(
  run: Run,
  stage: string,
  attempt: number,
  at: A,
): { name: string; track: Track & { at: A } } | undefined {
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at === at && "attempt" in track && track.stage === stage && track.attempt === attempt) {
      return { name, track: track as Track & { at: A } };
    }
  }
  return undefined;
}

function ignore(run: Run, signal: Signal, reason: string): Step {
  const event: RunEvent = { type: "signal.ignored", signal: signal.type, reason, at: signal.at, actor: signal.actor };
  return { run, events: [event], commands: [], ignored: reason };
}
