// Output of programs as plain text, without terminal control sequences. One linear pass.

const ESC = 0x1b;
const BEL = 0x07;

export function stripAnsi(text: string): string {
  let out = "";
  let kept = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const end =
      code === ESC ? sequenceEnd(text, at) : code === 0x9b ? controlEnd(text, at + 1) : isSteering(code) ? at + 1 : at;
    if (end === at) {
      at += 1;
      continue;
    }
    out += text.slice(kept, at);
    at = end;
    kept = end;
  }
  return kept === 0 ? text : out + text.slice(kept);
}

/** Line ends and tabs are text; a lone carriage return overwrites its line. */
function isSteering(code: number): boolean {
  return (code < 0x20 && code !== 0x0a && code !== 0x09) || code === 0x7f || (code >= 0x80 && code < 0xa0);
}

function sequenceEnd(text: string, at: number): number {
  const next = text[at + 1];
  if (next === "[") return controlEnd(text, at + 2);
  // A title or a link: up to BEL or ESC \, within its line.
  if (next === "]" || next === "P" || next === "_" || next === "^" || next === "X") return stringEnd(text, at + 2);
  if (next !== undefined && "()*+-./#% ".includes(next)) return Math.min(at + 3, text.length);
  return Math.min(at + (next === undefined || next === "\n" ? 1 : 2), text.length);
}

function controlEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) >= 0x20 && text.charCodeAt(at) < 0x40) at += 1;
  const final = text.charCodeAt(at);
  return final >= 0x40 && final < 0x7f ? at + 1 : at;
}

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BEL || code === 0x9c) return at + 1;
    if (code === ESC) return text[at + 1] === "\\" ? at + 2 : at;
    if (code === 0x0a) return at;
  }
  return text.length;
}
