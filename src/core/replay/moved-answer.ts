// A recorded answer with the paths of the replay in it. A model streams its text in small pieces, so a folder may be cut in the middle: the
// pieces of one text are read together, and where a place occurs in it the first piece gets the whole.

import { canonicalJson, type Json, type JsonObject } from "../json.ts";

/** `move` replaces places. An answer without any comes back byte by byte. */
export function movedAnswer(answer: string, move: (text: string) => string): string {
  if (!/^(?:event|data|id|:)/u.test(answer)) return move(answer);
  const lines = answer.split("\n");
  const pieces = new Map<string, { line: number; path: readonly string[]; text: string }[]>();
  const events = lines.map((line) => (line.startsWith("data:") ? parsed(line.slice(5)) : undefined));
  for (const [line, event] of events.entries())
    for (const { key, path, text } of event === undefined ? [] : piecesOf(event)) {
      const before = pieces.get(key) ?? [];
      pieces.set(key, [...before, { line, path, text }]);
    }
  const changed = new Map<number, JsonObject>();
  for (const all of pieces.values()) {
    const whole = all.map(({ text }) => text).join("");
    const moved = move(whole);
    if (moved === whole) continue;
    for (const [at, { line, path }] of all.entries())
      changed.set(line, withText(changed.get(line) ?? (events[line] as JsonObject), path, at === 0 ? moved : ""));
  }
  // An answer is moved only once.
  return lines
    .map((line, at) => (changed.has(at) ? `data: ${JSON.stringify(changed.get(at))}` : move(line)))
    .join("\n");
}

type Piece = { readonly key: string; readonly path: readonly string[]; readonly text: string };

/** The pieces of longer texts in one event of a stream, in the words of each vendor. */
function piecesOf(event: JsonObject): readonly Piece[] {
  const { type, delta, index, item_id: item, output_index: output, content_index: part, choices } = event;
  if (type === "content_block_delta")
    return ["text", "partial_json", "thinking"].flatMap((name) =>
      piece(canonicalJson([name, index]), ["delta", name], objectOf(delta)[name]),
    );
  if (typeof type === "string" && type.startsWith("response."))
    return piece(canonicalJson([type, item, output, part]), ["delta"], delta);
  return (Array.isArray(choices) ? (choices as readonly Json[]) : []).flatMap((choice, at) =>
    chatPieces(objectOf(objectOf(choice)["delta"]), String(at)),
  );
}

function chatPieces(delta: JsonObject, at: string): readonly Piece[] {
  const calls = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as readonly Json[]) : [];
  return [
    ...["content", "reasoning_content"].flatMap((name) =>
      piece(`${name} ${at}`, ["choices", at, "delta", name], delta[name]),
    ),
    ...calls.flatMap((call, position) => {
      const { index, function: called } = objectOf(call);
      const path = ["choices", at, "delta", "tool_calls", String(position), "function", "arguments"];
      return piece(canonicalJson([at, index]), path, objectOf(called)["arguments"]);
    }),
  ];
}

function piece(key: string, path: readonly string[], text: Json | undefined): readonly Piece[] {
  return typeof text === "string" ? [{ key, path, text }] : [];
}

function withText<T extends Json>(value: T, [key, ...rest]: readonly string[], text: string): T {
  if (key === undefined) return text as T;
  if (Array.isArray(value))
    return value.map((each: Json, at) => (String(at) === key ? withText(each, rest, text) : each)) as unknown as T;
  const object = objectOf(value);
  return { ...object, [key]: withText(object[key] ?? null, rest, text) } as T;
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
