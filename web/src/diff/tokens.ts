// Syntax colours for strings, comments, keywords and numbers, one line at a time. A line of a diff has no context that a grammar could use,
// so this is a simple scanner: it visits every character once and returns classes instead of styles.

import { type Language, languageOf } from "./languages.ts";

export type TokenKind = "plain" | "keyword" | "string" | "comment" | "number";
export type Token = { readonly kind: TokenKind; readonly text: string };

/** Longer lines are generated; they get no colours. */
const LINE_CHARS = 1000;

/** Undefined if the file's language is unknown: it gets no colours. */
export function tokensOf(path: string, line: string): readonly Token[] | undefined {
  const language = languageOf(path);
  if (language === undefined || line.length > LINE_CHARS) return undefined;
  return scan(line, language);
}

function scan(line: string, { keywords, comments, block, quotes }: Language): readonly Token[] {
  const tokens: Token[] = [];
  let plainFrom = 0;
  let at = 0;
  const take = (kind: TokenKind, end: number): void => {
    if (at > plainFrom) tokens.push({ kind: "plain", text: line.slice(plainFrom, at) });
    tokens.push({ kind, text: line.slice(at, end) });
    at = plainFrom = end;
  };
  // Inside a long comment only the star at the line's start shows that it is one.
  if (block !== null && block[0] === "/*" && /^\s{0,200}\*(?:\s|\/|$)/.test(line))
    return [{ kind: "comment", text: line }];
  while (at < line.length) {
    const char = line[at] ?? "";
    if (block !== null && line.startsWith(block[0], at)) {
      const end = line.indexOf(block[1], at + block[0].length);
      take("comment", end === -1 ? line.length : end + block[1].length);
    } else if (comments.some((begin) => beginsComment(line, at, begin))) take("comment", line.length);
    else if (quotes.includes(char)) take("string", endOfString(line, at, char));
    else if (isDigit(char)) take("number", endOfWord(line, at));
    else if (isLetter(char)) {
      const end = endOfWord(line, at);
      if (keywords.has(line.slice(at, end))) take("keyword", end);
      else at = end;
    } else at++;
  }
  if (at > plainFrom) tokens.push({ kind: "plain", text: line.slice(plainFrom) });
  return tokens;
}

/** `#` inside a word (`a#b`, `$#`) begins no comment. */
function beginsComment(line: string, at: number, begin: string): boolean {
  if (!line.startsWith(begin, at)) return false;
  return begin !== "#" || at === 0 || line[at - 1] === " " || line[at - 1] === "\t";
}

/** A quote that is not closed on its line extends to the end. An apostrophe in a comment never comes here. */
function endOfString(line: string, from: number, quote: string): number {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}

function endOfWord(line: string, from: number): number {
  let at = from + 1;
  while (at < line.length && (isLetter(line[at] ?? "") || isDigit(line[at] ?? ""))) at++;
  return at;
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

function isLetter(char: string): boolean {
  return (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || char === "_" || char === "$";
}
