// The one rule: (flow, run, signal) -> the run after it, the events that made it so, the commands that follow.
// Pure and the only place where a run changes. A signal that does not fit (late, repeated, from the wrong hand) changes nothing
// and is recorded as ignored. Where a run goes next is in routing.ts.

import type { Command } from "./command.ts";
import { type Draft, emit, showStatus } from "./draft.ts";
import type { RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import type { Flow, Stage, WorkStage } from "./flow.ts";
import { MAIN_TRACK } from "./flow.ts";
import { judge } from "./judge.ts";
import type { Outcome } from "./outcome.ts";
import { cancel, enter, goTo, ready, resetCounter, routeOutcome, type Sender, stop, warn } from "./routing.ts";
import type { Carry, InboxItem, Run, Track } from "./run.ts";
import { isEnded } from "./run.ts";
import { conditionHolds, expand, factOf, findStage, findWork, isWork, statusWord } from "./sequence.ts";
import type { Signal } from "./signal.ts";

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
  if (isEnded(run)) return ignore(run, signal, `the run is ${run.status}`);
  const draft: Draft = { flow, at: signal.at, run, events: [], commands: [] };
  const refused = apply(draft, signal);
  if (refused !== undefined) return ignore(run, signal, refused);
  settle(draft);
  return { run: draft.run, events: draft.events, commands: draft.commands };
}

/** No agent, timer or crash can take these decisions. */
const PEOPLE_ONLY: ReadonlySet<Signal["type"]> = new Set([
  "item.answered",
  "retry.requested",
  "skip.requested",
  "resume.requested",
]);

/** Applies a signal to the draft, or says why it does not fit. A refusal comes before anything is emitted. */
function apply(draft: Draft, signal: Exclude<Signal, { type: "run.requested" }>): string | undefined {
  if (PEOPLE_ONLY.has(signal.type) && !signal.actor.startsWith("human:")) return "only a person can do this";
  switch (signal.type) {
    case "attempt.started":
      return started(draft, signal);
    case "attempt.finished":
      return finished(draft, signal);
    case "attempt.interrupted":
      return interrupted(draft, signal);
    case "item.answered":
      return answered(draft, signal);
    case "pause.requested":
      if (draft.run.paused) return "the run is paused already";
      emit(draft, { type: "run.paused", reason: signal.reason }, signal.actor);
      return undefined;
    case "resume.requested":
      return resumed(draft, signal);
    case "cancel.requested":
      cancel(draft, signal.actor, signal.reason);
      return undefined;
    case "retry.requested":
      return retried(draft, signal);
    case "skip.requested":
      return skipped(draft, signal);
    case "stall.noticed":
      emit(draft, { type: "run.stalled", since: signal.since });
      showStatus(draft, draft.flow.words.status.stalled);
      return undefined;
  }
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
  if (entry.refused === undefined) enter(draft, sender, MAIN_TRACK, entry.stage, "first");
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
  const { stage, attempt } = signal;
  emit(draft, { type: "stage.started", track: name, stage, attempt });
  if (track.carry.handoff > 0) emit(draft, { type: "handoff.accepted", track: name, number: track.carry.handoff });
  const work = findWork(draft.flow, draft.run, name, stage);
  showStatus(draft, work?.status.running ?? draft.flow.words.status.running);
  return undefined;
}

function finished(draft: Draft, signal: Signal & { type: "attempt.finished" }): string | undefined {
  const found = trackOf(draft.run, signal.stage, signal.attempt, "running");
  if (found === undefined) return `attempt ${signal.attempt} of ${signal.stage} is not running`;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, signal.stage);
  if (stage === undefined) return `the flow has no stage ${signal.stage}`;
  const outcome = judge(draft.flow.words, stage, signal.report);
  const { attempt } = signal;
  emit(draft, { type: "stage.finished", track: name, stage: stage.id, attempt, outcome }, signal.actor);
  if (outcome.cause !== undefined && outcome.cause.endsWith("timeout")) {
    emit(draft, { type: "stage.timed_out", track: name, stage: stage.id, attempt, cause: outcome.cause });
  }
  for (const warning of outcome.warnings) {
    const [code = ""] = warning.split(": ", 1);
    warn(draft, stage.id, /^[a-z_]{1,60}$/u.test(code) ? code : "warning", warning);
  }
  if (stage.kind === "router" && outcome.stages !== undefined && outcome.health === "complete") {
    emit(draft, { type: "stage.expanded", track: name, stage: stage.id, stages: expand(draft.flow, outcome.stages) });
  }
  if (sendsBack(stage, track.carry, outcome)) {
    const reason = outcome.reason ?? outcome.summary ?? "sent back";
    emit(draft, { type: "handoff.rejected", track: name, number: track.carry.handoff, reason });
  }
  // A review file is itself the feedback; any other way of sending back names its issues.
  if (outcome.verdict === "revise" && outcome.issues.length === 0 && stage.result.from !== "file-verdict") {
    warn(
      draft,
      stage.id,
      "issues_empty",
      `${stage.id} asked for changes without naming an issue; its whole answer is carried instead`,
    );
  }
  routeOutcome(draft, name, stage, attempt, track.carry, outcome);
  compareClaims(draft, name, stage.id, track.carry, outcome);
  return undefined;
}

/** The receiver refuses what it was handed, and the work returns to the sender. */
function sendsBack(stage: WorkStage, carry: Carry, outcome: Outcome): boolean {
  if (outcome.verdict !== "revise" || carry.handoff === 0) return false;
  const goto = stage.route["revise"]?.goto;
  return goto === carry.from || goto === "prev" || goto?.startsWith("agent:") === true;
}

/** What an agent says about routing is compared and never obeyed. */
function compareClaims(draft: Draft, name: string, stage: string, carry: Carry, outcome: Outcome): void {
  const { claimed } = outcome;
  if (claimed === undefined) return;
  const track = draft.run.tracks[name];
  const next =
    track !== undefined && "stage" in track ? findStage(draft.flow, draft.run, name, track.stage) : undefined;
  const mismatches: string[] = [];
  if (claimed.loop !== undefined && claimed.loop !== carry.loop)
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
  ready(draft, name, stage, track.carry);
  return undefined;
}

function answered(draft: Draft, signal: Signal & { type: "item.answered" }): string | undefined {
  const waiting = Object.entries(draft.run.tracks).find(
    ([, track]) => track.at === "waiting" && track.item.number === signal.number,
  );
  const [name, track] = waiting ?? [];
  if (name === undefined || track?.at !== "waiting") return `item ${signal.number} is not open`;
  const { item, carry } = track;
  if (item.kind !== signal.kind) return `item ${signal.number} is a ${item.kind}, not a ${signal.kind}`;
  const stage = findStage(draft.flow, draft.run, name, item.stage);
  if (stage === undefined) return `the flow has no stage ${item.stage}`;
  const sender: Sender = { track: name, stage, attempt: draft.run.stages[stage.id]?.attempts ?? 0, carry };
  switch (item.kind) {
    case "gate":
      return answerGate(draft, sender, signal);
    case "question":
      return answerQuestion(draft, sender, item, signal);
    case "choice":
      return answerChoice(draft, sender, item, signal);
    case "escalation":
      return resolveEscalation(draft, sender, item, signal);
  }
}

type Answer = Signal & { type: "item.answered" };

function answerGate(draft: Draft, sender: Sender, signal: Answer): string | undefined {
  const { stage, track } = sender;
  if (stage.kind !== "gate") return `${stage.id} is not a gate`;
  // People say reject, some flows say decline: the same wish, whichever of the two the gate knows.
  const answer = signal.answer === "reject" && !("reject" in stage.route) ? "decline" : signal.answer;
  const route = Object.hasOwn(stage.route, answer) ? stage.route[answer] : undefined;
  if (route === undefined)
    return `gate ${stage.id} does not know "${signal.answer}"; answers: ${Object.keys(stage.route).join(", ")}`;
  emit(
    draft,
    { type: "gate.answered", track, stage: stage.id, number: signal.number, answer, comment: signal.text },
    signal.actor,
  );
  if (route.status !== undefined && route.goto !== "end") showStatus(draft, statusWord(draft.run, route.status));
  const said = signal.text === "" ? {} : { said: signal.text };
  const carry = {
    ...sender.carry,
    from: stage.id,
    reason: "next" as const,
    names: route.carry,
    issues: [],
    questions: [],
    ...said,
  };
  goTo(draft, { ...sender, carry: { ...carry, loop: 0, loopMax: null } }, route.goto, route, undefined);
  return undefined;
}

function answerQuestion(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "question" },
  signal: Answer,
): string | undefined {
  if (signal.text.trim() === "") return "the answer is empty";
  emit(
    draft,
    { type: "question.answered", track: sender.track, stage: item.stage, number: item.number, answer: signal.text },
    signal.actor,
  );
  leave(draft, { ...sender, carry: { ...sender.carry, reason: "answered", said: signal.text } }, item.goto);
  return undefined;
}

function answerChoice(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "choice" },
  signal: Answer,
): string | undefined {
  const target = Object.hasOwn(item.choices, signal.answer) ? item.choices[signal.answer] : undefined;
  if (target === undefined)
    return `"${signal.answer}" is not offered; choices: ${Object.keys(item.choices).join(", ")}`;
  emit(
    draft,
    { type: "question.answered", track: sender.track, stage: item.stage, number: item.number, answer: signal.answer },
    signal.actor,
  );
  const said = signal.text === "" ? {} : { said: signal.text };
  leave(draft, { ...sender, carry: { ...sender.carry, reason: "answered", ...said } }, target);
  return undefined;
}

function resolveEscalation(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "escalation" },
  signal: Answer,
): string | undefined {
  const action = Object.hasOwn(item.choices, signal.answer) ? item.choices[signal.answer] : undefined;
  if (action === undefined)
    return `"${signal.answer}" is not offered; choices: ${Object.keys(item.choices).join(", ")}`;
  const { track } = sender;
  emit(
    draft,
    {
      type: "escalation.resolved",
      track,
      stage: item.stage,
      number: item.number,
      choice: signal.answer,
      note: signal.text,
    },
    signal.actor,
  );
  const said = signal.text === "" ? {} : { said: signal.text };
  if (action === "cancel") {
    cancel(draft, signal.actor, signal.text === "" ? "canceled at an escalation" : signal.text);
  } else if (action === "accept") {
    leave(
      draft,
      { ...sender, carry: { ...sender.carry, reason: "next", issues: [], loop: 0, loopMax: null, ...said } },
      "next",
    );
  } else {
    // A person's decision to go on starts a new budget for the loop that was spent.
    if (action === "again" && item.counter !== undefined) resetCounter(draft, item.counter, track);
    leave(
      draft,
      { ...sender, carry: { ...sender.carry, reason: "again", ...said } },
      action === "again" ? item.again : action,
    );
  }
  return undefined;
}

function leave(draft: Draft, sender: Sender, target: string): void {
  goTo(draft, sender, target, { goto: target, carry: [], onlyBlamed: false, once: false }, undefined);
}

function resumed(draft: Draft, signal: Signal): string | undefined {
  if (!draft.run.paused) return "the run is not paused";
  emit(draft, { type: "run.unpaused" }, signal.actor);
  for (const [track, state] of Object.entries(draft.run.tracks)) {
    if (state.at === "ready")
      draft.commands.push({ type: "start-attempt", track, stage: state.stage, attempt: state.attempt });
  }
  return undefined;
}

function retried(draft: Draft, signal: Signal & { type: "retry.requested" }): string | undefined {
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const said = signal.note === "" ? {} : { said: signal.note };
  const carry: Carry = { ...track.carry, reason: "again", ...said };
  const gate = findStage(draft.flow, draft.run, name, track.stage);
  if (gate?.kind === "gate" && track.at === "stopped") {
    enter(draft, { track: name, stage: gate, attempt: 0, carry }, name, gate, "again");
    return undefined;
  }
  const stage = findWork(draft.flow, draft.run, name, track.stage) ?? routerOf(draft, track.stage);
  if (stage === undefined) return `${track.stage} cannot be retried: it is not a stage that works`;
  endCurrent(draft, name, track, "retried");
  ready(draft, name, stage, carry);
  return undefined;
}

function skipped(draft: Draft, signal: Signal & { type: "skip.requested" }): string | undefined {
  if (signal.reason.trim() === "") return "skipping needs a reason";
  const found = currentTrack(draft.run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `${track.stage} cannot be skipped: it is not a stage that works`;
  if (stage.kind === "router") return `${track.stage} cannot be skipped: without its list there is nothing to run`;
  endCurrent(draft, name, track, "skipped");
  emit(draft, { type: "stage.skipped", track: name, stage: stage.id, reason: signal.reason }, signal.actor);
  const carry = {
    ...track.carry,
    from: stage.id,
    reason: "next" as const,
    issues: [],
    questions: [],
    loop: 0,
    loopMax: null,
  };
  leave(draft, { track: name, stage, attempt: draft.run.stages[stage.id]?.attempts ?? 0, carry }, "next");
  return undefined;
}

/** A dynamic stage that could not use its list is retried by asking the router again. */
function routerOf(draft: Draft, id: string): WorkStage | undefined {
  const stage = findStage(draft.flow, draft.run, MAIN_TRACK, id);
  if (stage?.kind !== "dynamic") return undefined;
  const routers = stage.from.map((name) => findWork(draft.flow, draft.run, MAIN_TRACK, name.split(".")[0] ?? ""));
  return routers.find(
    (router) => router?.kind === "router" && (router.when === undefined || conditionHolds(draft.run, router.when)),
  );
}

type Resting = Exclude<Track, { at: "done" } | { at: "forked" }>;

/** The track that a person means: the one at the named stage, or the only one. */
function currentTrack(run: Run, stage: string | undefined): { name: string; track: Resting } | string {
  const candidates = Object.entries(run.tracks).flatMap(([name, track]) =>
    track.at === "done" || track.at === "forked" || (stage !== undefined && track.stage !== stage)
      ? []
      : [{ name, track }],
  );
  const [only, ...others] = candidates;
  if (only === undefined) return stage === undefined ? "no stage is current" : `${stage} is not the current stage`;
  if (others.length > 0)
    return `several stages are current, name one: ${candidates.map(({ track }) => track.stage).join(", ")}`;
  return only;
}

function endCurrent(draft: Draft, name: string, track: Resting, reason: string): void {
  if (track.at === "ready" || track.at === "running") {
    emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt: track.attempt, reason });
    draft.commands.push({ type: "end-attempt", stage: track.stage, attempt: track.attempt, reason });
  } else if (track.at === "waiting") {
    emit(draft, { type: "item.withdrawn", track: name, number: track.item.number, reason });
  }
}

/** Says what the run as a whole is doing now: working, waiting for people, or stopped. */
function settle(draft: Draft): void {
  if (isEnded(draft.run)) return;
  const tracks = Object.values(draft.run.tracks);
  const items = tracks.flatMap((track) => (track.at === "waiting" ? [track.item] : []));
  const stopped = tracks.find((track) => track.at === "stopped");
  if (tracks.some((track) => track.at === "ready" || track.at === "running")) {
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
