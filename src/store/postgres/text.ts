// Text on its way into Postgres, which knows neither NUL nor half characters. JSON that is stored as text keeps both, because they are
// escaped in it; in the columns that are taken from a value they become the replacement character.

/** The JSON of a value that Postgres can read. JSON.stringify escapes exactly the characters that Postgres refuses. */
export function toJsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(REFUSED, "$1\\ufffd");
}

/** An escape of its own, not the end of an escaped backslash. */
const REFUSED = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gu;

export function plainText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
