// One line of words for each event, and whether it is minor: events that only prepare or repeat another can be folded.

import type { RunEvent } from "../../../src/core/run/event.ts";
import { isEventType, sayEvent, shortSentence } from "../../../src/core/view/event-sentence.ts";
import { withoutColours } from "./log/ansi.ts";
import type { ListedEvent } from "./types.ts";

export type DescribedEvent = {
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

export function tell({ seq, event }: ListedEvent): DescribedEvent {
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

/** Core has the words for every event that it knows; for an unknown one only its reason is shown. */
function wordsOf(event: ListedEvent["event"]): string {
  return isEventType(event.type) ? shortSentence(sayEvent(event as unknown as RunEvent)) : text(event["reason"]);
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

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export type EventLine =
  | { readonly type: "event"; readonly described: DescribedEvent }
  /** Adjacent minor events, as one line. */
  | { readonly type: "folded"; readonly seq: number; readonly count: number };

export function foldMinor(
  described: readonly DescribedEvent[],
  isOpen: boolean,
  opened: ReadonlySet<number>,
): readonly EventLine[] {
  const lines: EventLine[] = [];
  for (let index = 0; index < described.length; ) {
    const one = described[index];
    if (one === undefined) break;
    let end = index;
    while (!isOpen && described[end]?.isMinor === true) end++;
    // A single one is no longer than the line that would hide it.
    if (end <= index + 1 || opened.has(one.seq)) {
      const upTo = Math.max(end, index + 1);
      lines.push(...described.slice(index, upTo).map((each): EventLine => ({ type: "event", described: each })));
      index = upTo;
    } else {
      lines.push({ type: "folded", seq: one.seq, count: end - index });
      index = end;
    }
  }
  return lines;
}
