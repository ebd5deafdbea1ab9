// Reads what people type into the fields of tickets.

/** Ids, separated by commas or spaces, each once. */
export function idsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/u).filter((id) => id !== ""))];
}
