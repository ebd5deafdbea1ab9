// A piece of a line of code and what it is: a class of the style sheet, never a style.

export const TOKEN_KINDS = ["plain", "comment", "keyword", "string", "number", "name"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];
export type Token = { readonly kind: TokenKind; readonly text: string };

/** A line as it comes from the worker: kind and length of each piece, in turn. */
export type PackedLine = readonly number[];

export function unpack(packed: PackedLine, line: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = 0;
  for (let at = 0; at + 1 < packed.length; at += 2) {
    const to = from + (packed[at + 1] ?? 0);
    tokens.push({ kind: TOKEN_KINDS[packed[at] ?? 0] ?? "plain", text: line.slice(from, to) });
    from = to;
  }
  // No part of the text may be lost, whatever the grammar returns.
  if (from < line.length) tokens.push({ kind: "plain", text: line.slice(from) });
  return tokens;
}
