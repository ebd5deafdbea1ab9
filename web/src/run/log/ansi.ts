// Makes terminal text harmless: colours and weights become classes, all other terminal sequences (cursor, titles, links, queries) are
// dropped. Other control characters stay and are shown by their code.

import Anser from "anser";

export type Piece = { readonly text: string; readonly className: string };

const ESCAPE = "\u001b";
/** Only these are readable on both backgrounds; an arbitrary colour might not be. */
const COLOURS = /^ansi-(bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/;
const LOOKS: Readonly<Record<string, string>> = {
  bold: "font-semibold",
  italic: "italic",
  underline: "underline",
  strikethrough: "line-through",
};

export function piecesOf(line: string): readonly Piece[] {
  if (!line.includes(ESCAPE) && !line.includes("\u009b")) return [{ text: line, className: "" }];
  return Anser.ansiToJson(onlyColours(line), { json: true, use_classes: true, remove_empty: true }).map(
    ({ content, fg, decorations }) => ({
      text: content,
      className: [typeof fg === "string" && COLOURS.test(fg) ? fg : "", ...decorations.map((each) => LOOKS[each] ?? "")]
        .filter((each) => each !== "")
        .join(" "),
    }),
  );
}

/** For search and copies: without any sequence. */
export function withoutColours(line: string): string {
  return piecesOf(line)
    .map(({ text }) => text)
    .join("");
}

/** One pass over the text, without a backtracking pattern. */
function onlyColours(line: string): string {
  let clean = "";
  for (let at = 0; at < line.length; ) {
    const sign = line[at];
    if (sign !== ESCAPE && sign !== "\u009b") {
      const next = nextEscape(line, at);
      clean += line.slice(at, next);
      at = next;
      continue;
    }
    const kind = sign === "\u009b" ? "[" : line[at + 1];
    const from = at + (sign === "\u009b" ? 1 : 2);
    if (kind === "[") {
      const end = finalByte(line, from);
      const body = line.slice(from, end);
      if (line[end] === "m" && /^[0-9;]*$/.test(body)) clean += `${ESCAPE}[${body}m`;
      at = end + 1;
    } else if (kind !== undefined && "]PX^_".includes(kind)) at = stringEnd(line, from);
    else at = from;
  }
  return clean;
}

function nextEscape(line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== ESCAPE && line[at] !== "\u009b") at++;
  return at;
}

/** CSI: parameters and intermediates, then one byte from @ to ~. */
function finalByte(line: string, from: number): number {
  let at = from;
  while (at < line.length && (line[at] ?? "") >= " " && (line[at] ?? "") <= "?") at++;
  return at;
}

/** OSC, DCS and similar: up to BEL or ST; the rest of the line if neither comes. */
function stringEnd(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\u0007" || line[at] === "\u009c") return at + 1;
    if (line[at] === ESCAPE) return line[at + 1] === "\\" ? at + 2 : at;
  }
  return line.length;
}
