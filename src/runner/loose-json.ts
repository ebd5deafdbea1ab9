// Reads a program's output: JSON of any shape, field by field, without exceptions. Also limits how much of it is kept.

export type Fields = { readonly [key: string]: unknown };

const NO_FIELDS: Fields = {};
const EVENT_CHARS = 64 * 1024;
const TOOL_CHARS = 16 * 1024;
const FINAL_CHARS = 256 * 1024;

/** The value of a line; undefined if it is not JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** The fields of an object; none for anything else. */
export function fields(value: unknown): Fields {
  return isFields(value) ? value : NO_FIELDS;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** For the text of an event: keeps the beginning. */
export function eventText(value: string): string {
  return head(value, EVENT_CHARS);
}

/** For a tool's input or output. */
export function toolText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return head(typeof value === "string" ? value : inJson(value), TOOL_CHARS);
}

/** For the final text: keeps the end, where a verdict is. */
export function finalText(value: string): string {
  return endOf(value, FINAL_CHARS);
}

/** For text that still grows: cut only at twice the limit, so that appending stays cheap. */
export function growingText(value: string): string {
  return value.length <= 2 * FINAL_CHARS ? value : endOf(value, FINAL_CHARS);
}

function endOf(value: string, chars: number): string {
  if (value.length <= chars) return value;
  const end = value.slice(-chars);
  return isLowSurrogate(end) ? end.slice(1) : end;
}

function inJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply for JSON.stringify.
    return "";
  }
}

function head(value: string, chars: number): string {
  if (value.length <= chars) return value;
  const start = value.slice(0, chars - 1);
  return `${isHighSurrogate(start) ? start.slice(0, -1) : start}…`;
}

const isLowSurrogate = (value: string): boolean => /^[\uDC00-\uDFFF]/.test(value);
const isHighSurrogate = (value: string): boolean => /[\uD800-\uDBFF]$/.test(value);
