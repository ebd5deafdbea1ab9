// One line of words for each event, and whether it is worth one: what only prepares or repeats what another event says can be folded away.

import { withoutColours } from "./log/ansi.ts";
import type { ListedEvent } from "./types.ts";

export type Told = {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly stage: string;
  readonly text: string;
  readonly isHuman: boolean;
  readonly isMinor: boolean;
};

const MINOR = new Set([
  "stage.ready",
  "handoff.created",
  "handoff.accepted",
  "usage.recorded",
  "way.taken",
  "run.waiting",
  "run.resumed",
  "status.changed",
  "track.done",
  "signal.ignored",
]);
const TEXT_CHARS = 300;

export function tell({ seq, event }: ListedEvent): Told {
  const { type, at, actor } = event;
  const item = record(event["item"]);
  return {
    seq,
    at,
    actor,
    type,
    stage: text(event["stage"]) || text(item["stage"]),
    text: short(wordsOf(event)),
    isHuman: actor.startsWith("human:"),
    isMinor: MINOR.has(type) && !actor.startsWith("human:"),
  };
}

type Event = ListedEvent["event"];

function wordsOf(event: Event): string {
  const item = record(event["item"]);
  const say = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" · ");
  switch (event.type) {
    case "run.created":
      return say("created", text(event["flow"]), text(record(event["subject"])["title"]));
    case "stage.started":
      return `attempt ${text(event["attempt"])} begins`;
    case "stage.finished": {
      const outcome = record(event["outcome"]);
      const issues = Array.isArray(outcome["issues"]) ? outcome["issues"].length : 0;
      return say(
        text(outcome["word"]) || text(outcome["verdict"]) || text(outcome["health"]),
        issues === 0 ? "" : `${issues} ${issues === 1 ? "issue" : "issues"}`,
        text(outcome["summary"]) || text(outcome["reason"]),
      );
    }
    case "gate.opened":
    case "question.asked":
    case "escalation.opened":
    case "budget.reached":
      return say(`${text(item["kind"])} for ${text(item["who"])}`, text(item["reason"]), first(item["questions"]));
    case "gate.answered":
    case "question.answered":
    case "budget.answered":
      return say(text(event["answer"]), text(event["comment"]), text(event["note"]));
    case "escalation.resolved":
      return say(text(event["choice"]), text(event["note"]));
    case "counter.changed":
      return `${text(event["key"])}: ${text(event["from"])} → ${text(event["to"])}`;
    case "counter.spent":
      return `${text(event["key"])} is used up after ${text(event["loops"])}`;
    case "status.changed":
      return `${text(event["from"])} → ${text(event["to"])}`;
    case "stage.postponed":
      return say(text(event["cause"]), text(event["reason"]), `goes on ${text(event["until"])}`);
    case "handoff.created":
      return `${text(event["fromAgent"]) || "start"} → ${text(event["toAgent"]) || "end"}`;
    case "ticket.edited":
      return text(event["title"]);
    case "warning.raised":
      return say(text(event["code"]), text(event["message"]));
    case "tracks.forked":
      return Array.isArray(event["tracks"]) ? event["tracks"].map(text).join(", ") : "";
    default:
      return say(text(event["reason"]), text(event["cause"]), text(event["way"]), text(event["signal"]));
  }
}

function short(words: string): string {
  const line = withoutColours(words.slice(0, TEXT_CHARS * 4))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > TEXT_CHARS ? `${line.slice(0, TEXT_CHARS)}…` : line;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function first(value: unknown): string {
  return Array.isArray(value) ? text(value[0]) : "";
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export type EventLine =
  | { readonly type: "event"; readonly told: Told }
  /** Neighbours that are of little importance, as one line. */
  | { readonly type: "folded"; readonly seq: number; readonly count: number };

export function foldMinor(told: readonly Told[], isOpen: boolean, opened: ReadonlySet<number>): readonly EventLine[] {
  const lines: EventLine[] = [];
  for (let index = 0; index < told.length; ) {
    const one = told[index];
    if (one === undefined) break;
    let end = index;
    while (!isOpen && told[end]?.isMinor === true) end++;
    // One alone is no longer than the line that would hide it.
    if (end <= index + 1 || opened.has(one.seq)) {
      const upTo = Math.max(end, index + 1);
      lines.push(...told.slice(index, upTo).map((each): EventLine => ({ type: "event", told: each })));
      index = upTo;
    } else {
      lines.push({ type: "folded", seq: one.seq, count: end - index });
      index = end;
    }
  }
  return lines;
}
