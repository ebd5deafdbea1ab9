// Source 004's intake: the output begins with the word (`QUESTIONS:`, `TICKETS:`). Prose never becomes a ticket.
// Leading blank lines and one code fence, around everything or around the body, are tolerated; nothing else is.

import { ok } from "../result.ts";
import { itemsOf, markdownLines } from "./markdown.ts";
import { clip, ITEM_CHARS, present, type Reading, SUMMARY_CHARS, unreadable, withoutNonce } from "./reading.ts";

const BODY_CHARS = 256 * 1024;
const MAX_QUESTIONS = 5;
const ASKING_WORD = "QUESTIONS";

/** `prefixes` maps the text at the start to its word, for example `TICKETS:` to `TICKETS`. A line with the nonce may follow it. */
export function readPrefix(text: string, prefixes: Prefixes, nonce = ""): Reading {
  const found = findPrefix(text, prefixes);
  if (found === undefined) {
    const start = skipBlank(text, 0);
    return ok({ summary: clip(text.slice(start, start + SUMMARY_CHARS + 1), SUMMARY_CHARS) });
  }
  const { prefix, word } = found;
  const body = bodyOf(text, found);
  if (body === undefined)
    return unreadable("verdict_too_large", `What follows ${prefix} is longer than ${BODY_CHARS} characters.`);
  const said = { health: word, verdict: word, payload: { text: withoutNonce(body.text, nonce) } };
  const warnings = body.isFollowed ? ["text after the closing code fence was ignored"] : [];
  if (word !== ASKING_WORD) return ok({ ...said, ...(warnings.length > 0 ? { warnings } : {}) });

  const questions = itemsOf(markdownLines(body.text)).map((item) => item.text);
  if (questions.length === 0) return unreadable("verdict_field_invalid", `${prefix} is not followed by any question.`);
  if (questions.slice(0, MAX_QUESTIONS).some((question) => question.length > ITEM_CHARS)) {
    return unreadable("verdict_field_invalid", `A question is longer than ${ITEM_CHARS} characters.`);
  }
  if (questions.length > MAX_QUESTIONS)
    warnings.push(`${questions.length} questions were asked; the first ${MAX_QUESTIONS} are kept`);
  return ok(
    present({
      ...said,
      questions: questions.slice(0, MAX_QUESTIONS),
      warnings: warnings.length > 0 ? warnings : undefined,
    }),
  );
}

/** The text after the prefix, up to the fence that closes the surrounding one; undefined when it is too long. */
function bodyOf(
  text: string,
  { end: from, marks: outer }: FoundPrefix,
): { text: string; isFollowed: boolean } | undefined {
  const inner = outer === undefined ? openingFence(text, skipBlank(text, from)) : undefined;
  const start = inner ? inner.end : from;
  const marks = outer ?? inner?.marks;
  // One character beyond the limit shows whether there is more, without reading the rest.
  const part = text.slice(start, start + BODY_CHARS + 1);
  const close = marks === undefined ? undefined : closingFence(part, marks);
  const body = close ? part.slice(0, close.start) : part;
  if (body.length > BODY_CHARS) return undefined;
  return {
    text: body.trim() === "" ? "" : body.replace(/^[ \t]{0,99}\r?\n/, ""),
    isFollowed: close !== undefined && skipBlank(part, close.end) < part.length,
  };
}

/** A fence line that begins at `at`: its marks, and where the next line begins. */
function openingFence(text: string, at: number): { marks: string; end: number } | undefined {
  let end = at;
  while (end < at + 20 && text[end] === "`") end += 1;
  if (end - at < 3) return undefined;
  const lineEnd = text.indexOf("\n", end);
  return lineEnd === -1 || lineEnd - end > 100 ? undefined : { marks: text.slice(at, end), end: lineEnd + 1 };
}

/** The first unindented line of only fence marks, at least as long as the opening one (a fence inside a ticket's text is indented). */
function closingFence(text: string, marks: string): { start: number; end: number } | undefined {
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, Math.min(end, at + 100));
    if (line.startsWith(marks) && /^`{3,50}\s{0,50}$/.test(line)) return { start: at, end };
    at = end + 1;
  }
  return undefined;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xfeff;
}

/**
 * Whether the line below the word carries the nonce. Anywhere else it proves nothing: if a child of the agent prints
 * first, its body includes the agent's own answer with the nonce.
 */
export function isSignedPrefix(text: string, prefixes: Prefixes, nonce: string): boolean {
  const found = findPrefix(text, prefixes);
  const body = found === undefined ? undefined : bodyOf(text, found)?.text.trimStart();
  return nonce !== "" && body !== undefined && (body.split("\n", 1)[0] ?? "").includes(nonce);
}

type Prefixes = { readonly [prefix: string]: string };

/** `end`: of the prefix; `marks`: of the fence around everything. */
type FoundPrefix = {
  readonly prefix: string;
  readonly word: string;
  readonly end: number;
  readonly marks: string | undefined;
};

function findPrefix(text: string, prefixes: Prefixes): FoundPrefix | undefined {
  const start = skipBlank(text, 0);
  const fence = openingFence(text, start);
  const at = fence ? skipBlank(text, fence.end) : start;
  const prefix = Object.keys(prefixes)
    .sort((a, b) => b.length - a.length)
    .find((known) => known !== "" && text.startsWith(known, at));
  const word = prefix === undefined ? undefined : prefixes[prefix];
  if (prefix === undefined || word === undefined) return undefined;
  return { prefix, word, end: at + prefix.length, marks: fence?.marks };
}
