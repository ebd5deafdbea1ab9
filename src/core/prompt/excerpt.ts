// The end of a program's output as an agent or a person gets to read it: the last lines, without colours and control characters.

const LINES = 60;
const CHARS = 8000;
// oxlint-disable-next-line no-control-regex -- what colours a terminal begins with one
const COLOUR = /\u001b\[[0-9;?]{0,20}[A-Za-z]/gu;

export function excerptOf(text: string): string {
  return text
    .slice(-200_000)
    .replaceAll("\r\n", "\n")
    .replace(COLOUR, "")
    .split("\n")
    .map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\t" ? char : "")).trimEnd())
    .slice(-LINES)
    .join("\n")
    .trim()
    .slice(-CHARS);
}
