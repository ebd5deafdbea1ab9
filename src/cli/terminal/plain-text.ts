// Makes text from agents, tickets and files safe for a terminal: it cannot move the cursor, ring the bell, set a title or hide text.
// Control characters become visible; colours stay only if the caller asks for them.

/** C0 but tab and newline, DEL, C1. */
function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f);
}

/** Characters that reorder or hide their neighbours. */
function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe007f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x061c ||
    code === 0x180e ||
    code === 0x00ad ||
    code === 0xfeff
  );
}

/** Safe for a terminal. With `colors`, sequences that only set a colour or a weight are kept. */
export function plainText(text: string, colors: boolean = false): string {
  // Most text is harmless; this look is linear and avoids building a second copy.
  if (!needsCare(text)) return text;
  let out = "";
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const width = code > 0xffff ? 2 : 1;
    if (code === 0x0d && text.codePointAt(at + 1) === 0x0a) {
      at += 1;
      continue;
    }
    if (code === 0x1b) {
      const end = escapeEnd(text, at);
      const isColor = end > at + 2 && text[end - 1] === "m" && text[at + 1] === "[" && isSgr(text, at + 2, end - 1);
      if (isColor) out += colors ? text.slice(at, end) : "";
      else if (end === at + 1) out += "␛";
      at = end;
      continue;
    }
    if (isControl(code)) out += code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "␡" : "\ufffd";
    else if (isInvisible(code)) out += `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
    else out += text.slice(at, at + width);
    at += width;
  }
  return out;
}

/** One line of it, at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = plainText(text.slice(0, width * 8))
    .replaceAll(/[\t\n\v\f\r]+/gu, " ")
    .trimEnd();
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, Math.max(1, width - 1)).join("")}…`;
}

/** A quick look without building anything; most text is harmless. */
function needsCare(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Tags above the first plane come as two halves; the first of them is enough to look closer.
    if (isControl(code) || isInvisible(code) || code === 0xdb40) return true;
  }
  return false;
}

function isSgr(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const char = text[at] ?? "";
    if (!((char >= "0" && char <= "9") || char === ";" || char === ":")) return false;
  }
  return true;
}

/** Behind an escape sequence: CSI, a string (OSC, DCS, APC, PM, SOS), or the two-character kind; one that never ends is only its ESC. */
function escapeEnd(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === undefined) return at + 1;
  if (kind === "[") {
    for (let end = at + 2; end < text.length && end < at + 64; end++) {
      const code = text.charCodeAt(end);
      if (code >= 0x40 && code <= 0x7e) return end + 1;
      if (code < 0x20 || code > 0x3f) return at + 1;
    }
    return at + 1;
  }
  if (kind === "]" || kind === "P" || kind === "X" || kind === "^" || kind === "_") {
    for (let end = at + 2; end < text.length && end < at + 4096; end++) {
      const code = text.charCodeAt(end);
      if (code === 0x07 || code === 0x9c) return end + 1;
      if (code === 0x1b) return text[end + 1] === "\\" ? end + 2 : at + 1;
    }
    return at + 1;
  }
  const code = kind.charCodeAt(0);
  return code >= 0x20 && code <= 0x7e ? at + 2 : at + 1;
}
