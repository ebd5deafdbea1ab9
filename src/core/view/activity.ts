// An agent's activity for a person: messages, thoughts, tool calls with their results, notices. Alike calls in a row are one entry. The
// page and the command line show the same.

import type { ActivityEvent, ActivityNotice } from "./activity-event.ts";
import type { DescribedCall, ToolKind } from "./tool-call.ts";

export type ActivityCall = DescribedCall & {
  readonly place: number;
  readonly at: string;
  /** Null while it works. */
  readonly ok: boolean | null;
  readonly output: string;
  /** The file has more of its output. */
  readonly isCut: boolean;
  /** Null while it works, or without times. */
  readonly ms: number | null;
  /** The exit code, if the program reports it. */
  readonly exit: number | null;
};

/** `place` names an entry while the list grows: that of its first event. */
export type ActivityItem = { readonly place: number; readonly at: string } & (
  | { readonly is: "began"; readonly model: string | null }
  | { readonly is: "said"; readonly text: string; readonly isCut: boolean }
  | { readonly is: "thought"; readonly text: string }
  | { readonly is: "call"; readonly call: ActivityCall }
  | { readonly is: "calls"; readonly title: string; readonly calls: readonly ActivityCall[] }
  | { readonly is: "notice"; readonly kind: ActivityNotice; readonly text: string; readonly resetsAt: string | null }
  | { readonly is: "task"; readonly name: string; readonly status: string; readonly text: string }
  | { readonly is: "printed"; readonly lines: readonly string[] }
);

/** This many calls of one kind in a row become one entry. */
const FOLD_FROM = 3;
const COMMANDS_FOLD_FROM = 4;
const PRINTED_LINES = 40;

/** In their order. `isOver`: the attempt has ended, so that no call works any more. */
export function activityOf(
  events: readonly ActivityEvent[],
  { isOver }: { readonly isOver: boolean },
): readonly ActivityItem[] {
  return folded(itemsOf(events, isOver));
}

function itemsOf(events: readonly ActivityEvent[], isOver: boolean): readonly ActivityItem[] {
  const results = new Map<string, Returned>();
  // From the end: some programs use the id of a call again, and the next result after a call is its own.
  const answers: (Returned | undefined)[] = [];
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at];
    if (event?.type === "returned") results.set(event.id, event);
    if (event?.type !== "called") continue;
    answers[at] = results.get(event.id);
    results.delete(event.id);
  }
  const items: ActivityItem[] = [];
  for (const [index, event] of events.entries()) {
    const last = items.at(-1);
    if (event.type === "printed" && last?.is === "printed" && last.lines.length < PRINTED_LINES)
      items[items.length - 1] = { ...last, lines: [...last.lines, event.text] };
    else items.push(...itemOf(event, answers[index], isOver));
  }
  return items;
}

type Returned = Extract<ActivityEvent, { readonly type: "returned" }>;

function itemOf(event: ActivityEvent, result: Returned | undefined, isOver: boolean): readonly ActivityItem[] {
  const { place, at } = event;
  switch (event.type) {
    case "session":
      return [{ is: "began", place, at, model: event.model }];
    case "message":
      return event.text.trim() === "" ? [] : [{ is: "said", place, at, text: event.text, isCut: event.isCut }];
    case "thinking":
      return event.text.trim() === "" ? [] : [{ is: "thought", place, at, text: event.text }];
    case "called":
      return [{ is: "call", place, at, call: callOf(event, result, isOver) }];
    case "notice":
      return [{ is: "notice", place, at, kind: event.kind, text: event.text, resetsAt: event.resetsAt }];
    case "task":
      return [{ is: "task", place, at, name: event.name, status: event.status, text: event.text }];
    case "printed":
      return [{ is: "printed", place, at, lines: [event.text] }];
    case "returned":
    case "usage":
      return [];
  }
}

function callOf(
  { place, at, call }: Extract<ActivityEvent, { readonly type: "called" }>,
  result: Returned | undefined,
  isOver: boolean,
): ActivityCall {
  if (result === undefined)
    return { ...call, place, at, ok: isOver ? false : null, output: "", isCut: false, ms: null, exit: null };
  const took = Date.parse(result.at) - Date.parse(at);
  const exit = /^Exit code (?<code>[0-9]{1,3})\n?/u.exec(result.output);
  return {
    ...call,
    place,
    at,
    ok: result.ok,
    output: result.output.slice(exit?.[0].length ?? 0),
    isCut: result.isCut,
    ms: Number.isFinite(took) && took >= 0 ? took : null,
    exit: exit === null ? null : Number(exit.groups?.["code"]),
  };
}

function folded(items: readonly ActivityItem[]): readonly ActivityItem[] {
  const shown: ActivityItem[] = [];
  let row: ActivityCall[] = [];
  const close = (): void => {
    const [first] = row;
    if (first !== undefined && row.length >= (first.kind === "command" ? COMMANDS_FOLD_FROM : FOLD_FROM))
      shown.push({ is: "calls", place: first.place, at: first.at, title: titleOf(row), calls: row });
    else shown.push(...row.map((call): ActivityItem => ({ is: "call", place: call.place, at: call.at, call })));
    row = [];
  };
  for (const item of items) {
    const call = item.is === "call" && isQuiet(item.call) ? item.call : undefined;
    if (call === undefined || (row[0] !== undefined && alike(row[0]) !== alike(call))) close();
    if (call === undefined) shown.push(item);
    else row.push(call);
  }
  close();
  return shown;
}

/** Successful ended calls need no entry of their own. */
const isQuiet = ({ kind, ok }: ActivityCall): boolean => ok === true && (LOOKS.has(kind) || kind === "command");
const LOOKS: ReadonlySet<ToolKind> = new Set(["read", "search"]);

function alike({ kind, title }: ActivityCall): string {
  return kind === "command" ? `command ${programOf(title)}` : "look";
}

/** `npm test -- shard 3` is work of `npm test`. */
function programOf(title: string): string {
  return /^\S+(?: [a-z][a-z-]*)?/u.exec(title)?.[0] ?? title;
}

function titleOf(calls: readonly ActivityCall[]): string {
  const [first] = calls;
  if (first?.kind === "command") return `Ran ${programOf(first.title)} ${calls.length} times`;
  const files = new Set(calls.filter(({ kind }) => kind === "read").map(({ title }) => title)).size;
  const searches = calls.filter(({ kind }) => kind === "search").length;
  const parts = [
    files === 0 ? "" : `${searches > 0 ? "read" : "Read"} ${files} ${files === 1 ? "file" : "files"}`,
    searches === 0 ? "" : `searched ${searches} ${searches === 1 ? "time" : "times"}`,
  ].filter((part) => part !== "");
  const words = parts.join(", ");
  return `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`;
}
