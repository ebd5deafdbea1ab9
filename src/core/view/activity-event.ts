// One line of an attempt's record of events, read for people: bounded, and with its tool call in words. Lines of programs that only print are
// events, too. Unknown events are left out; the raw file beside it has everything.

import { type DescribedCall, describeTool } from "./tool-call.ts";

export type ActivityNotice = "retry" | "limit" | "denied" | "warning";

/** `place` is where its line begins in the file, in bytes; with the attempt it names the event. `at` is empty where no time is known. */
export type ActivityEvent = { readonly place: number; readonly at: string } & (
  | { readonly type: "session"; readonly model: string | null }
  | { readonly type: "message"; readonly text: string; readonly isCut: boolean }
  | { readonly type: "thinking"; readonly text: string; readonly isCut: boolean }
  | { readonly type: "called"; readonly id: string; readonly call: DescribedCall }
  | {
      readonly type: "returned";
      readonly id: string;
      readonly ok: boolean;
      readonly output: string;
      readonly isCut: boolean;
    }
  | { readonly type: "notice"; readonly kind: ActivityNotice; readonly text: string; readonly resetsAt: string | null }
  | { readonly type: "task"; readonly name: string; readonly status: string; readonly text: string }
  | { readonly type: "usage"; readonly tokens: number | null; readonly usd: number | null }
  | { readonly type: "printed"; readonly text: string }
);

const MESSAGE_CHARS = 16 * 1024;
const THINKING_CHARS = 8 * 1024;
const OUTPUT_CHARS = 3000;
const NOTICE_CHARS = 1000;
const PRINTED_CHARS = 4000;

type Fields = { readonly [key: string]: unknown };

/** Undefined for a line that people need not see, or that is no event. */
export function readActivityLine(line: string, place: number, root = ""): ActivityEvent | undefined {
  const event = parse(line);
  if (event === undefined) return undefined;
  const at = word(event["at"]);
  const said = (type: "message" | "thinking", chars: number): ActivityEvent => {
    const text = word(event["text"]);
    return { type, place, at, text: text.slice(0, chars), isCut: text.length > chars };
  };
  switch (event["type"]) {
    case "session":
      return {
        type: "session",
        place,
        at,
        model: typeof event["model"] === "string" ? event["model"].slice(0, 200) : null,
      };
    case "message":
      return said("message", MESSAGE_CHARS);
    case "thinking":
      return said("thinking", THINKING_CHARS);
    case "tool.called":
      return {
        type: "called",
        place,
        at,
        id: word(event["id"]),
        call: describeTool(word(event["name"]), word(event["input"]), root),
      };
    case "tool.returned": {
      const output = word(event["output"]);
      const isCut = output.length > OUTPUT_CHARS;
      return {
        type: "returned",
        place,
        at,
        id: word(event["id"]),
        ok: event["ok"] === true,
        output: output.slice(0, OUTPUT_CHARS),
        isCut,
      };
    }
    case "task.started":
      return task(event, { place, at, status: "started" });
    case "task.completed":
      return task(event, { place, at, status: word(event["status"]).slice(0, 60) || "completed" });
    case "notice":
      return {
        type: "notice",
        place,
        at,
        kind: NOTICES.find((kind) => kind === event["kind"]) ?? "warning",
        text: word(event["text"]).slice(0, NOTICE_CHARS),
        resetsAt: typeof event["resetsAt"] === "string" ? event["resetsAt"] : null,
      };
    case "usage":
      return usage(event, place, at);
    default:
      return undefined;
  }
}

/** One line of a program that only prints. */
export function printedLine(line: string, place: number): ActivityEvent {
  return { type: "printed", place, at: "", text: line.slice(0, PRINTED_CHARS) };
}

const NOTICES: readonly ActivityNotice[] = ["retry", "limit", "denied", "warning"];

function task(
  event: Fields,
  at: { readonly place: number; readonly at: string; readonly status: string },
): ActivityEvent {
  return {
    type: "task",
    ...at,
    name: word(event["name"]).slice(0, 120),
    text: word(event["text"]).slice(0, NOTICE_CHARS),
  };
}

function usage(event: Fields, place: number, at: string): ActivityEvent {
  const counts = (typeof event["usage"] === "object" && event["usage"] !== null ? event["usage"] : {}) as Fields;
  const [input, output, usd] = [number(counts["inputTokens"]), number(counts["outputTokens"]), number(counts["usd"])];
  return {
    type: "usage",
    place,
    at,
    usd,
    tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0),
  };
}

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

const word = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
