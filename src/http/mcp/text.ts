// A tool's answer as text for a model: JSON that fits. Text from agents and repositories is in it as strings. Invisible characters are
// escaped, so that such text cannot pass hidden instructions to the model.

/** About a tenth of a model's context; clients cut at about this size. */
const MAX_CHARS = 60_000;

/** Limits for the length of strings and lists, from the usual one down to one that always fits. */
const STEPS = [
  { chars: 8000, entries: 200 },
  { chars: 1000, entries: 50 },
  { chars: 200, entries: 15 },
  { chars: 60, entries: 4 },
] as const;

export function toText(value: unknown): string {
  let text = JSON.stringify(value);
  for (const step of STEPS) {
    if (text.length <= MAX_CHARS) break;
    text = JSON.stringify(shorten(value, step.chars, step.entries));
  }
  return visible(text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`);
}

/** Keeps the beginning of a text and the end of a list: the latest entries count most. */
function shorten(value: unknown, chars: number, entries: number): unknown {
  if (typeof value === "string")
    return value.length <= chars ? value : `${value.slice(0, chars)}… (${value.length - chars} more characters)`;
  if (Array.isArray(value)) {
    const left = value.length - entries;
    const kept = value.slice(Math.max(0, left)).map((each) => shorten(each, chars, entries));
    return left > 0 ? [`(${left} left out)`, ...kept] : kept;
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each, chars, entries)]));
}

/** Still the same JSON: each unit is escaped by JSON's rules. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, (hidden) =>
    Array.from({ length: hidden.length }, (_, at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}
