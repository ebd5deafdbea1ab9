// Decides where a run goes next. One outcome picks one route; a route counts, asks, or leads to a target; a target is entered.
// This is the whole meaning of a flow. No clock, no randomness, no model: the same events always lead the same way.

import { isAnswer } from "./closing-event.ts";
import { runFacts } from "./facts.ts";
import { countLoop, isAtLimit, type Place, resetCounter, type SpentLoops } from "./counting.ts";
import { type Draft, emit, showStatus, tell } from "./draft.ts";
import type { Route, Stage, WorkStage } from "../flow/flow.ts";
import { judgingCounter, MAIN_TRACK, plainRoute } from "../flow/flow.ts";
import { CHECKS_FAILED, isOfCheck } from "../flow/check-result.ts";
import { readTarget } from "../flow/target.ts";
import { handOff, handOver, inOwnName, isSentAgain, type Sender, senderOf } from "./handoff.ts";
import { isName } from "../flow/name.ts";
import { replacedCommands } from "../flow/own-command.ts";
import type { Outcome } from "../flow/outcome.ts";
import { issueText, routeKey } from "../flow/outcome.ts";
import { askedBefore } from "./live-question.ts";
import { type Carry, heldAttempt, type InboxItem, type Track } from "./run.ts";
import {
  aroundOf,
  conditionHolds,
  expand,
  factOf,
  findStage,
  isWork,
  stageAfter,
  statusWord,
  stagesOf,
} from "./sequence.ts";
import { optional } from "../optional.ts";
import type { Actor } from "./event.ts";
import { hasNeverBegun } from "./postponement.ts";
import { stuckReason } from "./review.ts";
import { isStoryFlow, toldAnswer } from "./told.ts";

/** An attempt that has ended, and what it was started with. */
export type EndedAttempt = {
  readonly track: string;
  readonly stage: WorkStage;
  readonly attempt: number;
  readonly carry: Carry;
};

/** The route that an outcome picked, and the key that picked it. */
type Picked = { readonly key: string; readonly route: Route; readonly outcome: Outcome };

/** Where a route leads; without an outcome a person decided it. */
type Heading = { readonly target: string; readonly route: Route; readonly outcome: Outcome | undefined };

/** The stage that becomes the current one of a track, and why. */
type Entered = {
  readonly track: string;
  readonly stage: Stage;
  readonly reason: Carry["reason"];
  /** The person who sent the run there; default: the engine, by the flow. */
  readonly actor?: Actor;
};

const STOP = plainRoute("stop");
const NEXT = plainRoute("next");

/** After an attempt: the key picks the route of the stage; pass leads to the next stage, anything unrouted stops. */
export function routeOutcome(draft: Draft, { track, stage, attempt, carry }: EndedAttempt, outcome: Outcome): void {
  const own = outcome.contradicted === true && CHECKS_FAILED in stage.route;
  const key = own ? CHECKS_FAILED : routeKey(outcome);
  const route = stage.route[key] ?? (key === "pass" ? NEXT : STOP);
  const base = { from: stage.id, reason: "next" as const, names: route.carry, questions: outcome.questions };
  const kept = keptOf(draft, carry, key);
  const sender: Sender = { track, stage, attempt, carry: { ...base, ...loopAfter(stage, carry, outcome), ...kept } };
  follow(draft, sender, { key, route, outcome });
}

/** In a story the work stays that of its sender until the stage passes it on, and what people said about it stays with it. */
function keptOf({ flow }: Draft, carry: Carry, key: string): Pick<Carry, "origin" | "told"> {
  if (!isStoryFlow(flow) || key === "pass") return {};
  return { origin: senderOf(carry), ...optional({ told: carry.told }) };
}

/** A handoff that no agent took: the stage fails by its own route; a flow without one asks a person. */
export function routeUntaken(draft: Draft, sender: Sender, outcome: Outcome): void {
  const { stage } = sender;
  const own = isWork(stage) ? stage.route["failed"] : undefined;
  follow(draft, sender, { key: "failed", route: own ?? { ...STOP, goto: "escalate" }, outcome });
}

/** An agent that asks in the middle of its work continues with its inputs after the answer; nothing is counted. */
export function askBack(draft: Draft, ended: EndedAttempt, outcome: Outcome): void {
  const { handoff: _done, ...rest } = ended.carry;
  const sender: Sender = { ...ended, carry: { ...rest, questions: outcome.questions } };
  const picked: Picked = { key: "blocked", route: plainRoute("self"), outcome };
  ask(draft, sender, picked, { who: draft.flow.escalation.notify });
}

/** A stage that judges closes its loop when it passes; one that only works hands the open loop on to its judge. */
function loopAfter(stage: WorkStage, carry: Carry, outcome: Outcome): Pick<Carry, "issues" | "loop" | "loopMax"> {
  const { loop, loopMax } = carry;
  if (routeKey(outcome) !== "pass") {
    // Without named issues the reason of a judge, else the whole answer, is what has to be resolved. Questions are carried as questions.
    const said = (outcome.health === "complete" ? outcome.reason : undefined) || outcome.summary || "";
    if (outcome.contradicted === true) {
      // The stage continues: the work that was sent to it is still open.
      const open = outcome.undone === undefined ? outcome.issues : [];
      return { issues: [...open, ...carry.issues.filter((issue) => !isOfCheck(issue))], loop, loopMax };
    }
    const isUnnamed = outcome.issues.length === 0 && outcome.questions.length === 0 && said !== "";
    return { issues: isUnnamed ? [said] : outcome.issues, loop, loopMax };
  }
  if (judgingCounter(stage) !== undefined) return { issues: [], loop: 0, loopMax: null };
  // After a person's "again" the loop is open although its new budget has counted nothing yet.
  const isOpen = loop > 0 || carry.reason === "again";
  return { issues: isOpen ? carry.issues.filter((issue) => !isOfCheck(issue)) : [], loop, loopMax };
}

function follow(draft: Draft, sender: Sender, picked: Picked): void {
  const { key, route, outcome } = picked;
  const way = `${sender.stage.id}.${key}`;
  if (route.once && draft.run.taken.includes(way)) {
    goTo(draft, sender, { target: route.else ?? "stop", route: { ...route, once: false }, outcome });
    return;
  }
  if (route.once) emit(draft, { type: "way.taken", way });
  const stuck = key === "revise" || key === "redesign" ? stuckReason(draft.run, sender.stage) : undefined;
  // At its limit a counter takes its own way; before that, a finding that does not converge goes to a person.
  if (stuck !== undefined && (route.counter === undefined || !isAtLimit(draft, placeOf(sender), route.counter))) {
    escalate(draft, sender, stuck, { again: route.goto, ...optional({ counter: route.counter }) });
    return;
  }
  const counted =
    route.counter === undefined ? { loops: null } : countLoop(draft, placeOf(sender), route.counter, outcome);
  if ("spent" in counted) {
    exhaust(draft, sender, picked, counted);
    return;
  }
  const isRound = route.counter !== undefined && draft.flow.counters[route.counter]?.isRounds === true;
  const onward =
    // Red checks have a budget of their own; the loop of the judge that sent the work stays as it is.
    counted.loops === null || isRound || key === CHECKS_FAILED
      ? sender
      : { ...sender, carry: { ...sender.carry, loop: counted.loops, loopMax: counted.max } };
  if (route.status !== undefined && route.goto !== "end") showStatus(draft, statusWord(draft.run, route.status));
  if (route.ask !== undefined) ask(draft, onward, picked, route.ask);
  else goTo(draft, onward, { target: route.goto, route, outcome });
}

function placeOf({ track, stage }: Sender): Place {
  return { track, stage: stage.id };
}

/** A spent counter takes its own way: a route of the stage, a stop, or an escalation. */
function exhaust(draft: Draft, sender: Sender, { route, outcome }: Picked, { spent, reason }: SpentLoops): void {
  const target = draft.flow.counters[spent]?.onExhausted ?? "escalate";
  const stuck = stuckReason(draft.run, sender.stage);
  const own = isWork(sender.stage) ? sender.stage.route[target] : undefined;
  if (own !== undefined) {
    const forced: Sender = { ...sender, carry: { ...sender.carry, reason: "forced", names: own.carry } };
    follow(draft, forced, { key: target, route: own, outcome });
  } else if (target === "stop") {
    stop(draft, sender, undefined, reason);
  } else {
    escalate(draft, sender, stuck === undefined ? reason : `${reason}; ${stuck}`, {
      again: route.goto,
      counter: spent,
    });
  }
}

function ask(draft: Draft, sender: Sender, picked: Picked, question: NonNullable<Route["ask"]>): void {
  const { stage } = sender;
  const { key, route, outcome } = picked;
  const before = outcome.asked === true ? askedBefore(draft.run, sender.track, outcome.questions) : undefined;
  const { number, openedAt } = before ?? { number: draft.run.items + 1, openedAt: draft.at };
  const base = { number, stage: stage.id, who: question.who, openedAt };
  const shown = shownPart(question.show, outcome);
  // The person answered before the attempt had ended.
  if (before?.answer !== undefined && question.choices === undefined) {
    const told = toldAnswer(draft.flow, sender.carry, shown.join("\n"), before.answer);
    leave(
      draft,
      { ...sender, carry: { ...sender.carry, reason: "answered", said: before.answer, ...told } },
      route.goto,
    );
    return;
  }
  const item: InboxItem =
    question.choices === undefined
      ? { ...base, kind: "question", questions: shown, goto: route.goto, key }
      : { ...base, kind: "choice", questions: shown, choices: question.choices, key };
  const type = before === undefined ? "question.asked" : "question.kept";
  emit(draft, { type, track: sender.track, item, carry: { ...sender.carry, handoff: 0 } });
  // A way that names a status shows that one while it waits.
  showStatus(
    draft,
    route.status === undefined
      ? draft.flow.words.status[item.kind === "choice" ? "choice" : "question"]
      : statusWord(draft.run, route.status),
  );
  // About a question that was asked while the agent worked they know already.
  if (before === undefined) tell(draft, { to: question.who, event: item.kind, text: shown.join("\n"), item: number });
}

/** The person sees what the flow names, or the nearest thing that the report has. */
function shownPart(show: string | undefined, { questions, reason, summary }: Outcome): readonly string[] {
  if (show === "status-reason" && reason !== undefined) return [reason];
  return questions.length > 0 ? questions : [reason ?? summary ?? "no question was given"];
}

/** Where "again" leads, and the counter that gets a new budget for it. */
type Again = {
  readonly again: string;
  readonly counter?: string;
  /** The stage's agent could not be started: there is nothing to accept. */
  readonly neverBegan?: boolean;
};

/** Opens an escalation: the run (or its track) waits until a person chooses. */
function escalate(draft: Draft, sender: Sender, reason: string, { again, counter, neverBegan }: Again): void {
  const { escalation, words } = draft.flow;
  const item: InboxItem = {
    kind: "escalation",
    number: draft.run.items + 1,
    stage: sender.stage.id,
    who: escalation.notify,
    openedAt: draft.at,
    reason,
    issues: sender.carry.issues,
    choices: neverBegan === true ? withoutAccept(escalation.choices) : escalation.choices,
    again,
    ...optional({ counter }),
  };
  emit(draft, { type: "escalation.opened", track: sender.track, item, carry: { ...sender.carry, handoff: 0 } });
  showStatus(draft, escalation.status ?? words.status.escalated);
  const lines = [
    `${sender.stage.id} was escalated: ${reason}`,
    ...sender.carry.issues.map((issue) => `- ${issueText(issue)}`),
  ];
  tell(draft, { to: escalation.notify, event: "escalation", text: lines.join("\n"), item: item.number });
}

function withoutAccept(choices: InboxChoices): InboxChoices {
  return Object.fromEntries(Object.entries(choices).filter(([, action]) => action !== "accept"));
}

type InboxChoices = Readonly<Record<string, string>>;

/** The track stops with a reason; a person can retry, skip or cancel. */
export function stop(draft: Draft, sender: Sender, route: Route | undefined, reason: string): void {
  emit(draft, {
    type: "stage.stopped",
    track: sender.track,
    stage: sender.stage.id,
    reason,
    carry: { ...sender.carry, handoff: 0 },
  });
  showStatus(
    draft,
    route?.status === undefined ? draft.flow.words.status.stopped : statusWord(draft.run, route.status),
  );
  const text = `${sender.stage.id} stopped: ${reason}`;
  tell(draft, { to: draft.flow.escalation.notify, event: "stopped", text });
}

/** Leads the run to a target, seen from the sender's stage. */
export function goTo(draft: Draft, sender: Sender, heading: Heading): void {
  const { flow, run } = draft;
  const { target, route, outcome } = heading;
  const { track, stage } = sender;
  const found = readTarget(target, aroundOf(flow, run, track, stage.id));
  switch (found.type) {
    case "next":
      goNext(draft, sender);
      return;
    case "warn":
      warn(draft, stage.id, "went_on", `${stage.id} did not pass (${describe(outcome)}); the flow continues`);
      goNext(draft, sender);
      return;
    case "self":
      enter(draft, back(sender), { track, stage, reason: "sent-back" });
      return;
    case "stage":
      if (found.stage.kind === "parallel")
        fork(draft, sender, found.stage, route.onlyBlamed ? (outcome?.blame ?? []) : []);
      else
        enter(draft, isEarlier(draft, track, found.stage, stage) ? back(sender) : sender, {
          track,
          stage: found.stage,
          reason: "sent-back",
        });
      return;
    case "escalate":
      escalate(draft, sender, describe(outcome), {
        ...againFrom(stage, outcome),
        neverBegan: hasNeverBegun(outcome?.cause),
      });
      return;
    case "stop":
      stop(draft, sender, route, describe(outcome));
      return;
    case "end":
      finish(draft, sender, route);
      return;
    case "cancel":
      cancel(draft, "engine", describe(outcome));
      return;
    case "missing":
      missTarget(draft, sender, heading);
  }
}

/** The target is not there: the route's `else`, or a stop that names the stages. */
function missTarget(draft: Draft, sender: Sender, { target, route, outcome }: Heading): void {
  const { track, stage } = sender;
  if (route.else !== undefined && route.else !== target) {
    warn(draft, stage.id, "target_missing", `there is no ${target} to go to; taking ${route.else}`);
    goTo(draft, sender, { target: route.else, route: { ...route, else: "stop" }, outcome });
    return;
  }
  const known = stagesOf(draft.flow, draft.run, track).map((candidate) => candidate.id);
  const reason = `nothing to go back to: there is no ${target} before ${stage.id} (stages: ${known.join(", ")})`;
  stop(draft, sender, undefined, reason);
}

/** Leads the run onwards because a person said so: nothing is counted, nothing is asked. */
export function leave(draft: Draft, sender: Sender, target: string): void {
  goTo(draft, sender, { target, route: plainRoute(target), outcome: undefined });
}

function goNext(draft: Draft, sender: Sender): void {
  const next = stageAfter(draft.flow, draft.run, sender.track, sender.stage.id);
  if (next !== undefined) enter(draft, sender, { track: sender.track, stage: next, reason: "next" });
  else if (sender.track === MAIN_TRACK) finish(draft, sender, undefined);
  else trackDone(draft, sender);
}

/** Makes a stage the current one of a track: a gate opens, work becomes ready, a condition may pass it over. */
export function enter(draft: Draft, from: Sender, { track, stage, reason, actor }: Entered): void {
  const sender = isSentAgain(from, stage) ? from : inOwnName(from);
  if (stage.when !== undefined && !conditionHolds(draft.run, stage.when)) {
    emit(draft, { type: "stage.skipped", track, stage: stage.id, reason: `not needed: ${stage.when}` });
    goNext(draft, { ...sender, track, stage });
    return;
  }
  switch (stage.kind) {
    case "parallel":
      fork(draft, sender, stage, []);
      return;
    case "dynamic":
      enterDynamic(draft, sender, track, stage);
      return;
    case "gate": {
      const handoff = handOff(draft, sender, track, stage);
      const item: InboxItem = {
        kind: "gate",
        number: draft.run.items + 1,
        stage: stage.id,
        who: stage.who,
        openedAt: draft.at,
        answers: Object.keys(stage.route),
        ...gateNotes(draft),
      };
      emit(draft, { type: "gate.opened", track, item, carry: { ...withoutOrigin(sender.carry), handoff } }, actor);
      showStatus(draft, stage.status ?? draft.flow.words.status.waiting);
      const { to, event } = stage.notify;
      tell(draft, { to, event, text: `${stage.title ?? stage.id} waits for ${stage.who}`, item: item.number });
      return;
    }
    case "agent":
    case "builtin":
    case "router": {
      const handoff = handOff(draft, sender, track, stage);
      if (isSentAgain(sender, stage)) {
        const { untaken: _closed, ...carry } = sender.carry;
        ready(draft, { track, stage, carry: { ...carry, handoff } }, optional({ actor }));
        return;
      }
      const kept = sender.carry.reason === "next" ? reason : sender.carry.reason;
      const carry = sender.stage.id === stage.id ? sender.carry : withoutOrigin(sender.carry);
      ready(draft, { track, stage, carry: { ...carry, reason: kept, handoff } }, optional({ actor }));
    }
  }
}

/** Another stage gets the work from this one. */
function withoutOrigin({ origin: _before, ...carry }: Sender["carry"]): Sender["carry"] {
  return carry;
}

/**
 * The person at the gate sees unsigned verdicts, the repository's settings for agents' programs (code of others), and checks that did not run.
 */
function gateNotes({ flow, run }: Draft): { readonly notes?: readonly string[] } {
  const { repositoryFiles, repositorySettings } = runFacts(run).config;
  const effect = repositorySettings ? "takes effect" : "stays off";
  const brought = repositoryFiles.map(
    ({ path, sha256, for: program }) =>
      `the repository brings ${path} for ${program} (sha256 ${sha256.slice(0, 12)}); it ${effect}`,
  );
  const unsigned = Object.entries(run.stages).flatMap(([stage, { last }]) =>
    last?.unsigned === true
      ? [
          `the verdict ${last.word ?? last.health} of ${stage} is not signed: any program that its agent started can have given it`,
        ]
      : [],
  );
  const replaced = replacedCommands(flow, run.facts).map(
    ({ stage, command }) =>
      `${stage} does not run the flow's own command (${command}): the run was started with another`,
  );
  const notes = [...brought, ...unsigned, ...replaced];
  return notes.length === 0 ? {} : { notes };
}

type Later = {
  readonly notBefore?: string;
  readonly because?: string;
  /** Whose limit it waits for. */
  readonly runner?: string;
  /** The person who wants it; default: the engine. */
  readonly actor?: Actor;
};

/** The next attempt of a stage may start as soon as there is a slot. */
export function ready(
  draft: Draft,
  { track, stage, carry }: Omit<EndedAttempt, "attempt">,
  { actor, ...later }: Later = {},
): void {
  const attempt = (draft.run.stages[stage.id]?.attempts ?? 0) + 1;
  emit(draft, { type: "stage.ready", track, stage: stage.id, attempt, carry, ...later }, actor);
  showStatus(draft, stage.status.ready);
}

function enterDynamic(draft: Draft, sender: Sender, track: string, stage: Stage & { kind: "dynamic" }): void {
  const list = stage.from.map((name) => listFrom(draft, name)).find((found) => found !== undefined);
  if (list === undefined || list.length === 0) {
    stop(draft, { ...sender, stage }, undefined, "there are no stages to run: the list is empty");
    return;
  }
  const unknown = list.filter(
    ({ agent }) =>
      !isName(agent) || (!Object.hasOwn(stage.templates, agent.toLowerCase()) && !Object.hasOwn(stage.templates, "*")),
  );
  if (unknown.length > 0) {
    const names = unknown.map(({ agent }) => agent).join(", ");
    stop(
      draft,
      { ...sender, stage },
      undefined,
      `unknown agent ${names}; known: ${(stage.pool ?? Object.keys(stage.templates)).join(", ")}`,
    );
    return;
  }
  emit(draft, { type: "stage.expanded", track, stage: stage.id, stages: expand(draft.flow, list) });
  goNext(draft, { ...sender, stage });
}

/** `route.stages` is what the stage `route` answered; any other fact is an agent's name. */
function listFrom(draft: Draft, name: string): readonly { agent: string; teams: boolean }[] | undefined {
  const path = name.split(".");
  if (
    path[1] === "stages" &&
    path[0] !== undefined &&
    findStage(draft.flow, draft.run, MAIN_TRACK, path[0]) !== undefined
  ) {
    return draft.run.expanded[path[0]];
  }
  const fact = factOf(draft.run, path);
  // Agents have their names in lower case, however a person writes them.
  return typeof fact === "string" && fact !== "" ? [{ agent: fact.toLowerCase(), teams: false }] : undefined;
}

function fork(draft: Draft, sender: Sender, stage: Stage & { kind: "parallel" }, blamed: readonly string[]): void {
  const known = blamed.filter((name) => Object.hasOwn(stage.tracks, name));
  const names = known.length > 0 ? known : Object.keys(stage.tracks);
  emit(draft, { type: "tracks.forked", stage: stage.id, tracks: names });
  for (const name of names) {
    // A track that starts anew has new budgets; budgets of the run continue.
    for (const [counter, plan] of Object.entries(draft.flow.counters))
      if (plan.scope === "track") resetCounter(draft, counter, { track: name, stage: stage.id });
    const first = stage.tracks[name]?.stages[0];
    if (first !== undefined) enter(draft, sender, { track: name, stage: first, reason: sender.carry.reason });
  }
}

function trackDone(draft: Draft, sender: Sender): void {
  emit(draft, { type: "track.done", track: sender.track });
  const main = draft.run.tracks[MAIN_TRACK];
  if (main?.at !== "forked") return;
  const stage = findStage(draft.flow, draft.run, MAIN_TRACK, main.stage);
  if (stage?.kind !== "parallel" || !stage.join.every((name) => draft.run.tracks[name]?.at === "done")) return;
  emit(draft, { type: "tracks.joined", stage: stage.id });
  goNext(draft, {
    track: MAIN_TRACK,
    stage,
    attempt: 0,
    carry: { ...sender.carry, from: stage.id, issues: [], questions: [] },
  });
}

/** The run reaches its end. A status that is the flow's word for a canceled run ends it as canceled. */
function finish(draft: Draft, from: Sender, route: Route | undefined): void {
  const sender = inOwnName(from);
  if (sender.track !== MAIN_TRACK) {
    trackDone(draft, sender);
    return;
  }
  const { status } = draft.flow.words;
  const word = route?.status === undefined ? (status.completed ?? "completed") : statusWord(draft.run, route.status);
  if (word === (status.canceled ?? "canceled")) {
    cancel(draft, "engine", `${sender.stage.id} ended it`);
    return;
  }
  const { exit } = draft.flow.handoffs;
  if (exit !== undefined) {
    const number = handOver(draft, sender, MAIN_TRACK, { toStage: null, toAgent: exit });
    emit(draft, { type: "handoff.accepted", track: MAIN_TRACK, number });
  }
  emit(draft, { type: "run.completed" });
  showStatus(draft, word);
  const text = `${draft.run.subject.title} is ${word}`;
  tell(draft, { to: draft.flow.escalation.notify, event: "completed", text });
  draft.commands.push({ type: "release-workspace" });
}

/** Ends the run for good; whatever still works is ended with it. */
export function cancel(
  draft: Draft,
  actor: "engine" | "system" | `agent:${string}` | `human:${string}`,
  reason: string,
): void {
  for (const [name, track] of Object.entries(draft.run.tracks)) {
    if (track.at === "ready" || track.at === "running") {
      emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt: track.attempt, reason });
      if (track.carry.handoff > 0)
        emit(draft, { type: "handoff.withdrawn", track: name, number: track.carry.handoff, reason });
    } else if (track.at === "waiting" && !answeredJustNow(draft, track.item.number)) {
      emit(draft, { type: "item.withdrawn", track: name, number: track.item.number, reason });
      const attempt = heldAttempt(track.item);
      if (attempt !== undefined)
        emit(draft, { type: "stage.canceled", track: name, stage: track.stage, attempt, reason });
    }
    // A track that a person has, or that waits or stopped before it started, still holds what it was handed.
    if ((track.at === "stopped" || track.at === "taken" || isHeldBack(track)) && track.carry.handoff > 0)
      emit(draft, { type: "handoff.withdrawn", track: name, number: track.carry.handoff, reason });
  }
  emit(draft, { type: "run.canceled", reason }, actor);
  showStatus(draft, draft.flow.words.status.canceled ?? "canceled");
  draft.commands.push({ type: "release-workspace" });
}

/** It waits for a person before its attempt may start. */
function isHeldBack(track: Track): track is Track & { at: "waiting" } {
  return track.at === "waiting" && heldAttempt(track.item) !== undefined;
}

function answeredJustNow(draft: Draft, number: number): boolean {
  return draft.events.some((event) => isAnswer(event) && event.number === number);
}

export function warn(draft: Draft, stage: string, code: string, message: string): void {
  emit(draft, { type: "warning.raised", stage, code, message });
}

function back(sender: Sender): Sender {
  return sender.carry.reason === "next" && sender.carry.untaken !== true
    ? { ...sender, carry: { ...sender.carry, reason: "sent-back" } }
    : sender;
}

function isEarlier(draft: Draft, track: string, target: Stage, stage: Stage): boolean {
  const ids = stagesOf(draft.flow, draft.run, track).map((candidate) => candidate.id);
  return ids.indexOf(target.id) <= ids.indexOf(stage.id);
}

/** Where "again" leads when no counter was involved: a judged stage sends back, a broken one runs again. */
function againFrom(stage: Stage, outcome: Outcome | undefined): Again {
  const revise = outcome?.health === "complete" && isWork(stage) ? stage.route["revise"] : undefined;
  // A stage without an earlier stage to send back to looks at the work again itself; asking the same person again would be useless.
  if (revise === undefined || revise.goto === "escalate") return { again: "self" };
  return { again: revise.goto, ...optional({ counter: revise.counter }) };
}

function describe(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "a person decided so";
  const word = outcome.word === undefined ? routeKey(outcome) : `${routeKey(outcome)} (${outcome.word})`;
  const why = outcome.reason ?? outcome.cause;
  return why === undefined ? word : `${word}: ${why}`;
}
