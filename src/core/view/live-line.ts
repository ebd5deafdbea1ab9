// The last line of a working agent, for lists: its message, its tool call, or its program's warning. Read from the end
// of the attempt's events, which an agent fills: everything is doubtful, and unreadable lines are left out.

export type AgentLine = { readonly text: string; readonly at: string | null };

const CHARS = 200;

/** `tail`: the last bytes of the file; its first line may be cut. */
export function lastEventLine(tail: string): AgentLine | null {
  for (const line of tail.split("\n").toReversed()) {
    const event = parse(line);
    const text = event === undefined ? "" : textOf(event);
    if (text !== "") return { text, at: typeof event?.["at"] === "string" ? event["at"] : null };
  }
  return null;
}

/** Of a program without events: its last printed line. */
export function lastOutputLine(tail: string): AgentLine | null {
  const last = tail.split("\n").findLast((line) => oneLine(line) !== "");
  return last === undefined ? null : { text: oneLine(last), at: null };
}

type Doubtful = Readonly<Record<string, unknown>>;

function textOf(event: Doubtful): string {
  switch (event["type"]) {
    case "message":
      return oneLine(event["text"]);
    case "thinking":
      return "thinks";
    case "tool.called":
      return oneLine(`${oneLine(event["name"])} ${inputOf(event["input"])}`);
    case "notice":
      return oneLine(event["text"]);
    case "task.started":
      return oneLine(`gives ${oneLine(event["name"])} a task: ${oneLine(event["text"])}`);
    default:
      return "";
  }
}

/** The most telling part of a tool's input: the command, the file, the pattern. */
function inputOf(input: unknown): string {
  if (typeof input !== "string") return "";
  const given = parse(input);
  if (given === undefined) return input;
  const named = ["command", "cmd", "file_path", "path", "pattern", "query", "description"].map((key) => given[key]);
  const first = named.find((each) => typeof each === "string" || Array.isArray(each));
  return Array.isArray(first) ? first.filter((word) => typeof word === "string").join(" ") : oneLine(first);
}

function oneLine(text: unknown): string {
  if (typeof text !== "string") return "";
  // Cut first: a message may have megabytes.
  const line = text
    .slice(0, CHARS * 4)
    .trim()
    .split(/\s+/u)
    .join(" ");
  return line.length > CHARS ? `${line.slice(0, CHARS)}…` : line;
}

function parse(text: string): Doubtful | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Doubtful) : undefined;
  } catch {
    return undefined;
  }
}
