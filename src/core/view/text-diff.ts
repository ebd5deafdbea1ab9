// The difference of two small texts in lines: the common beginning and end stay out, what is between them is shown as removed and added.
// Not the shortest difference, but a true one, in linear time whatever the texts are.

const CONTEXT = 3;
const MAX_LINES = 2000;

export function textDiff(before: string, after: string): string {
  if (before === after) return "";
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const from = Math.max(0, start - CONTEXT);
  const removed = old.slice(start, old.length - end);
  const added = fresh.slice(start, fresh.length - end);
  const below = old.slice(old.length - end, old.length - end + CONTEXT);
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...below.map((line) => ` ${line}`),
  ];
  const head = `@@ -${from + 1},${start - from + removed.length + below.length} +${from + 1},${start - from + added.length + below.length} @@`;
  const left = lines.length - MAX_LINES;
  return [head, ...lines.slice(0, MAX_LINES), ...(left > 0 ? [`(${left} more lines)`] : []), ""].join("\n");
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
