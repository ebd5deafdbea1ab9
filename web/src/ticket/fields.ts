// Reads the typed values of ticket fields.

/** Ids, separated by commas or spaces, each once. */
export function idsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/u).filter((id) => id !== ""))];
}
