// A sentence of ours about a program, with the program's own words in brackets. Those are untrusted: one line, and not long.

const SAID_CHARS = 500;

/** `Codex ended with code 1 (error: no such option).`; without words only the sentence. */
export function withWords(sentence: string, said: string): string {
  const line = said
    .slice(0, 4 * SAID_CHARS)
    .split(/[\s\p{Cc}]+/u)
    .join(" ")
    .trim();
  if (line === "") return `${sentence}.`;
  return `${sentence} (${line.length <= SAID_CHARS ? line : `${line.slice(0, SAID_CHARS - 1)}…`}).`;
}
