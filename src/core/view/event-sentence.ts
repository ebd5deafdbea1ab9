// Every event in words, once: the CLI's progress, the demo and the dashboard add only marks, colours and columns.
// The table is exhaustive, so a new event does not compile before it has its words.

import { amountText, type BudgetUnit, overText, scopeText } from "../budget/budget.ts";
import { reachedText } from "../budget/room.ts";
import { tokensOf } from "../budget/usage.ts";
import { issueText, type Outcome, withReused } from "../flow/outcome.ts";
import type { Json, JsonObject } from "../json.ts";
import type { EventType, RunEvent } from "../run/event.ts";
import type { OutwardIntent, OutwardVerb } from "../run/outward-act.ts";
import { causeText } from "../run/postponement.ts";
import { MESSAGE_WAYS } from "../run/message.ts";
import { spentText } from "../run/spent-text.ts";
import { overLimit } from "./over-limit.ts";
import { handedBackText } from "./taken-over.ts";
import { rungText } from "./rung-text.ts";
import type { InboxItem } from "../run/run.ts";

export type Said = {
  /** The stage of the event; empty if it concerns the whole run. */
  readonly stage: string;
  /** The event without stage and person: `gate answered`. */
  readonly did: string;
  /** The answer, the reason, the text; may be empty. */
  readonly detail: string;
};

/** Context that the event itself does not hold. */
export type SentenceContext = {
  /** The agent of a stage; empty if unknown. */
  readonly agentOf?: (track: string, stage: string) => string;
  /** The limit of a counter; null for none, undefined if unknown. */
  readonly limitOf?: (counter: string) => number | null | undefined;
  /** The format of a time; default ISO 8601. */
  readonly timeOf?: (at: string) => string;
};

export function sayEvent(event: RunEvent, context: SentenceContext = {}): Said {
  const say = SAYINGS[event.type] as (event: RunEvent, context: SentenceContext) => Said;
  return say(event, context);
}

/** `gate answered: approve`; for places that show the stage and the person elsewhere. */
export function shortSentence({ did, detail }: Said): string {
  return detail === "" ? did : `${did}: ${detail}`;
}

/** `ship: gate answered by ada: approve`. */
export function sentenceOf(event: RunEvent, context: SentenceContext = {}): string {
  const { stage, did, detail } = sayEvent(event, context);
  const by = event.actor.startsWith("human:") ? ` by ${event.actor.slice("human:".length)}` : "";
  return `${stage === "" ? "" : `${stage}: `}${shortSentence({ stage, did: `${did}${by}`, detail })}`;
}

/** Whether the table has words for an event from elsewhere. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(SAYINGS, type);
}

type Sayings = {
  readonly [T in EventType]: (event: Extract<RunEvent, { type: T }>, context: SentenceContext) => Said;
};

const ofRun = (did: string, detail = ""): Said => ({ stage: "", did, detail });
const ofStage = (event: { readonly stage: string }, did: string, detail = ""): Said => ({
  stage: event.stage,
  did,
  detail,
});
const withWords = (answer: string, kind: string, words: string): string =>
  words === "" ? answer : `${answer}, with the ${kind}: ${words}`;

const SAYINGS: Sayings = {
  "run.created": ({ flow, subject }) => ofRun(`created with flow ${flow}`, subject.title),
  "run.imported": ({ exportedAt, was }, { timeOf = asWritten }) =>
    ofRun("imported from a file", `exported ${timeOf(exportedAt)}, when it was ${was}`),
  "run.waiting": (event) => ofRun("waits for a person", event.for.join(", ")),
  "run.resumed": () => ofRun("works again"),
  "run.paused": ({ reason }) => ofRun("paused", reason),
  "run.unpaused": () => ofRun("resumed"),
  "run.stopped": ({ reason }) => ofRun("stopped", reason),
  "run.completed": () => ofRun("completed"),
  "run.canceled": ({ reason }) => ofRun("canceled", reason),
  "run.stalled": ({ since }, { timeOf = asWritten }) => ofRun(`stalled since ${timeOf(since)}`),
  "stage.ready": (event, { timeOf = asWritten }) => {
    const from = event.notBefore === undefined ? "" : ` from ${timeOf(event.notBefore)}`;
    return ofStage(event, `attempt ${event.attempt} is ready${from}`, causeText(event.because ?? ""));
  },
  "stage.started": (event, { agentOf }) => {
    const agent = agentOf?.(event.track, event.stage) ?? "";
    const rung = event.rung === undefined ? "" : rungText(event.reserved?.runner ?? "", event.rung);
    return ofStage(event, `attempt ${event.attempt}${agent === "" ? " starts" : ` by ${agent}`}`, rung);
  },
  "stage.finished": (event) => ofStage(event, outcomeWord(event.outcome), outcomeDetail(event.outcome)),
  "stage.timed_out": (event) => ofStage(event, `attempt ${event.attempt} timed out`, causeText(event.cause)),
  "stage.interrupted": (event) =>
    ofStage(event, `attempt ${event.attempt} was interrupted (${event.cause}) and starts again`),
  "stage.postponed": (event, { timeOf = asWritten }) =>
    ofStage(
      event,
      `${causeText(event.cause)}, resumes ${timeOf(event.until)}`,
      `retry ${event.retry} of ${event.of}; no loop is used up`,
    ),
  "stage.held": (event, { timeOf = asWritten }) =>
    ofStage(event, `resumes ${timeOf(event.until)}`, overLimit(event.runner, event.cause)),
  "stage.moved": (event) =>
    ofStage(event, `${event.to} takes the next attempt`, `${overLimit(event.from, event.cause)}; no loop is used up`),
  "stage.released": (event) => ofStage(event, `no longer waits for ${event.runner}`, event.reason),
  "stage.canceled": (event) => ofStage(event, `attempt ${event.attempt} canceled`, event.reason),
  "stage.skipped": (event) => ofStage(event, "skipped", event.reason),
  "stage.stopped": (event) => ofStage(event, "stopped", event.reason),
  "stage.taken_over": (event) => ofStage(event, "taken over"),
  "takeover.prepared": (event) => ofStage(event, "its workspace is ready for the person", event.lent.dir),
  "handback.requested": (event) =>
    ofStage(event, event.discard ? "to be handed back without the changes" : "to be handed back", event.note),
  "handback.refused": (event) => ofStage(event, "could not be handed back", event.reason),
  "stage.handed_back": (event) => ofStage(event, `handed back by ${event.by}: ${handedBackText(event)}`, event.note),
  "stage.expanded": (event) => ofStage(event, event.stages.map(({ agent }) => agent).join(" → ")),
  "tracks.forked": (event) => ofStage(event, "tracks start", event.tracks.join(", ")),
  "track.done": ({ track }) => ofRun(`track ${track} is done`),
  "tracks.joined": (event) => ofStage(event, "all tracks are done"),
  "handoff.created": ({ fromAgent, toAgent, toStage, number }) =>
    ofRun(`handoff ${number}`, `${fromAgent ?? "start"} → ${toAgent ?? toStage ?? "end"}`),
  "handoff.accepted": ({ number }) => ofRun(`handoff ${number} accepted`),
  "handoff.rejected": ({ number, reason }) => ofRun(`handoff ${number} rejected`, reason),
  "handoff.withdrawn": ({ number, reason }) => ofRun(`handoff ${number} withdrawn`, reason),
  "handoff.expired": ({ number, reason }) => ofRun(`handoff ${number} expired`, reason),
  "gate.opened": ({ item }) => ofItem(item),
  "question.asked": ({ item }) => ofItem(item),
  "escalation.opened": ({ item }) => ofItem(item),
  "budget.reached": ({ item }) => ofItem(item),
  "gate.answered": (event) => ofStage(event, "gate answered", withWords(event.answer, "comment", event.comment)),
  "question.answered": (event) =>
    ofStage(
      event,
      event.inPlace === true ? "question answered in place: it reached the agent while it worked" : "question answered",
      event.answer,
    ),
  "question.expired": (event) =>
    ofStage(event, `no answer to question ${event.number} while its agent waited`, "the agent ends its turn"),
  "question.kept": ({ item }) =>
    ofStage(item, `question ${item.number} waits on`, "the answer goes to the next attempt"),
  "inputs.decided": (event) =>
    ofStage(
      event,
      event.decision === "taken" ? "new text taken" : "agreed text kept",
      event.changes.map(({ path, sha256 }) => `${path} (${sha256.slice(0, 12)})`).join(", "),
    ),
  "escalation.resolved": (event) => ofStage(event, "escalation resolved", withWords(event.choice, "note", event.note)),
  "budget.answered": (event) =>
    ofStage(event, event.answer === "raise" ? "budget raised" : "budget not raised", event.note),
  "budget.raised": ({ scope, key, usd, tokens }) =>
    ofRun(`${scopeText(scope, key)} changed`, [byAmount("usd", usd), byAmount("tokens", tokens)].join(" ").trim()),
  "budget.warned": ({ scope, key, unit, used, limit }) =>
    ofRun(`${amountText(unit, used)} of ${amountText(unit, limit)} of ${scopeText(scope, key)} is used or reserved`),
  "usage.recorded": (event) => {
    const { usage } = event;
    const tokens = tokensOf(usage);
    const parts = [
      ...(usage.usd === null ? [] : [amountText("usd", usage.usd)]),
      ...(tokens === null ? [] : [amountText("tokens", tokens)]),
    ];
    return ofStage(event, `attempt ${event.attempt} used`, parts.length === 0 ? "not reported" : parts.join(", "));
  },
  "item.withdrawn": ({ number, reason }) => ofRun(`item ${number} withdrawn`, reason),
  "counter.changed": ({ key, from, to }, { limitOf }) => {
    if (to <= from) return ofRun(`${key} starts again at ${to}`);
    const limit = limitOf?.(key);
    const max = limit === undefined ? "" : limit === null ? ", no limit" : ` of ${limit}`;
    return ofRun("sent back", `${key} loop ${to}${max}`);
  },
  "counter.spent": ({ key, loops, why }) =>
    ofRun(why === "limit" ? spentText(key, loops) : `${key} ends at ${loops}: the same issues came again`),
  "findings.reviewed": (event) => {
    const raised = event.raised.map(({ id }) => `${id} raised`);
    return ofStage(
      event,
      "findings",
      [...event.judged.map(({ id, state }) => `${id} ${stateText(state)}`), ...raised].join(", "),
    );
  },
  "findings.answered": (event) => ofStage(event, "notes on findings", event.notes.map(({ id }) => id).join(", ")),
  "findings.accepted": (event) => ofStage(event, "findings accepted, still open", event.ids.join(", ")),
  "way.taken": ({ way }) => ofRun(`${way} is taken, once per run`),
  "ticket.edited": ({ title }) => ofRun("ticket edited", title),
  "message.sent": (event) => ofStage(event, `message ${event.number} to attempt ${event.attempt}`, event.text),
  "message.delivered": (event) =>
    ofStage(event, `message ${event.number} reached attempt ${event.attempt} ${MESSAGE_WAYS[event.way]}`),
  "settings.renewed": ({ config }) => ofRun("continues with the settings of now", Object.keys(config).join(", ")),
  "runners.chosen": ({ runners }) => ofRun("other agents chosen", runnersText(runners)),
  "outward.intended": (event) =>
    ofStage(event, `about to ${OUTWARD[event.verb]}`, `${event.commit.slice(0, 12)} ${roadOf(event)}`),
  "outward.seen": (event) => {
    const { sight, verb } = event;
    if (sight.result === "not-done") return ofStage(event, `did not ${OUTWARD[verb]}`, sight.why);
    const kept = sight.keptAs === undefined ? "" : `; kept as ${sight.keptAs}`;
    return ofStage(event, `seen after ${verb}`, `${sight.url ?? sight.commit} ${roadOf(event)}${kept}`);
  },
  "status.changed": ({ from, to }) => ofRun(`${from} → ${to}`),
  "work.undone": (event) =>
    ofStage(
      event,
      `the work of attempt ${event.attempt} was taken back`,
      `checks were red; the branch is at ${event.to.slice(0, 12)} again${event.pinned === null ? "" : `, and ${event.pinned} keeps ${event.from.slice(0, 12)}`}`,
    ),
  "warning.raised": (event) => ofStage(event, "warning", event.message),
  "signal.ignored": ({ signal, reason }) => ofRun(`${signal} ignored`, reason),
};

function stateText(state: string): string {
  return state.replace("_", " ");
}

const OUTWARD: Readonly<Record<OutwardVerb, string>> = {
  push: "push",
  propose: "open a pull request",
  merge: "merge",
  "delete-branch": "delete a branch",
  undo: "take back a landing",
  discard: "discard the branch",
};

function roadOf({ verb, branch, target }: Pick<OutwardIntent, "verb" | "branch" | "target">): string {
  if (verb === "push" || verb === "delete-branch" || verb === "discard") return `(${branch})`;
  return `(${branch} → ${target})`;
}

/** `build=codex, qa=./check.sh`. */
function runnersText(runners: JsonObject): string {
  return Object.entries(runners)
    .map(([name, options]) => `${name}=${runnerIn(options)}`)
    .join(", ");
}

/** Without the schema of the options: pages show this sentence, and a schema compiles code, which they may not. */
function runnerIn(options: Json | undefined): string {
  if (options === null || typeof options !== "object" || Array.isArray(options)) return "";
  const { runner, command } = options as JsonObject;
  if (typeof runner === "string") return runner;
  return Array.isArray(command) ? command.filter((word) => typeof word === "string").join(" ") : "";
}

/** The waiting item, with its question. */
function ofItem(item: InboxItem): Said {
  switch (item.kind) {
    case "gate":
      return ofStage(item, "gate", `${item.who} decides, ${item.answers.join(" or ")}`);
    case "question":
    case "choice":
      return ofStage(item, item.kind, item.questions.join(" "));
    case "escalation":
      return ofStage(item, "escalation", item.reason);
    case "budget":
      return ofStage(item, "budget", item.stopped === true ? reachedText(item) : overText(item));
  }
}

/** The flow's own word, else the verdict or the health. */
export function outcomeWord({ health, verdict, word }: Outcome): string {
  return word ?? (health === "complete" ? (verdict ?? "pass") : health);
}

/** The issues where there are any, else the reason of a failure, else the summary. */
function outcomeDetail(outcome: Outcome): string {
  return withReused(outcome, saidIn(outcome));
}

function saidIn({ health, issues, reason, cause, summary }: Outcome): string {
  if (issues.length > 0) return issues.map(issueText).join("; ");
  return health === "complete" ? (summary ?? reason ?? "") : (reason ?? cause ?? "no reason given");
}

function asWritten(at: string): string {
  return at;
}

function byAmount(unit: BudgetUnit, amount: number): string {
  return amount === 0 ? "" : `${amount > 0 ? "+" : "−"}${amountText(unit, Math.abs(amount))}`;
}
