// JSON as people write it in settings of their programs: with comments, and with a comma after the last entry.

/** Comments become nothing, and so do commas before a closing bracket; strings stay. */
export function withoutComments(text: string): string {
  let out = "";
  /** Where the last comma is, while nothing but white space has followed it. */
  let comma = -1;
  for (let at = 0; at < text.length; ) {
    const sign = text[at] ?? "";
    const end = sign === '"' ? endOfString(text, at) : endOfComment(text, at);
    if (end > at && sign !== '"') {
      at = end;
      continue;
    }
    if (comma >= 0 && (sign === "}" || sign === "]")) out = out.slice(0, comma);
    if (sign === ",") comma = out.length;
    else if (sign.trim() !== "") comma = -1;
    out += end > at ? text.slice(at, end) : sign;
    at = Math.max(end, at + 1);
  }
  return out;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** `from` itself when no comment begins there. */
function endOfComment(text: string, from: number): number {
  const stop = text.startsWith("//", from) ? "\n" : text.startsWith("/*", from) ? "*/" : null;
  if (stop === null) return from;
  const end = text.indexOf(stop, from + 2);
  if (end < 0) return text.length;
  return stop === "\n" ? end : end + 2;
}
