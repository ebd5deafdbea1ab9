// A line in pieces: each of one colour, and either changed or not.

import type { Token, TokenKind } from "./token.ts";
import type { Range } from "./words.ts";

export type LinePiece = { readonly kind: TokenKind; readonly text: string; readonly isChanged: boolean };

/** `ranges`: in order, and apart from each other. */
export function piecesOf(tokens: readonly Token[], ranges: readonly Range[]): readonly LinePiece[] {
  const pieces: LinePiece[] = [];
  let at = 0;
  let next = 0;
  for (const { kind, text } of tokens) {
    const end = at + text.length;
    const start = at;
    while (at < end) {
      while ((ranges[next]?.to ?? Infinity) <= at) next++;
      const { from, to } = ranges[next] ?? { from: Infinity, to: Infinity };
      const isChanged = from <= at;
      const until = Math.min(end, isChanged ? to : from);
      pieces.push({ kind, text: text.slice(at - start, until - start), isChanged });
      at = until;
    }
  }
  return pieces;
}
