// The conditions of a flow file (`when: "plan.new_infra and not input.agent"`): a small closed language over named facts.
// It evaluates no code and calls nothing. A missing fact is `none`, which is false.

import type { Json } from "../json.ts";
import { err, ok, type Result } from "../result.ts";

export type Operand =
  | { readonly type: "literal"; readonly value: string | number | boolean | null }
  | { readonly type: "fact"; readonly path: readonly string[] };

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Condition =
  | { readonly type: "value"; readonly operand: Operand }
  | { readonly type: "compare"; readonly op: Comparison; readonly left: Operand; readonly right: Operand }
  | { readonly type: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly type: "not"; readonly inner: Condition }
  | { readonly type: "and" | "or"; readonly left: Condition; readonly right: Condition };

export type Lookup = (path: readonly string[]) => Json | undefined;

const MAX_CHARS = 500;
const MAX_DEPTH = 20;
const MAX_KEPT = 1000;
const ALLOWED =
  "allowed: facts (plan.new_infra), last('stage').field, 'text', numbers, true, false, none, == != < <= > >=, in [a, b], and, or, not, ( )";

const parsed = new Map<string, Result<Condition>>();

/** Whether a condition holds. The flow check has parsed the text already; one that does not parse is a bug in the caller. */
export function holds(text: string, lookup: Lookup): boolean {
  const condition = parseCondition(text);
  if (!condition.ok) throw new Error(`${condition.error.message}: ${text}`);
  return evaluate(condition.value, lookup);
}

/** The facts that a condition reads, as paths; `last('x').f` is ["last", "x", "f"]. A text that does not parse reads nothing. */
export function factPathsOf(text: string): readonly (readonly string[])[] {
  const condition = parseCondition(text);
  return condition.ok ? operandsOf(condition.value).flatMap((o) => (o.type === "fact" ? [o.path] : [])) : [];
}

export function parseCondition(text: string): Result<Condition> {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const result = parse(text);
  if (parsed.size >= MAX_KEPT) parsed.clear();
  parsed.set(text, result);
  return result;
}

function evaluate(condition: Condition, lookup: Lookup): boolean {
  switch (condition.type) {
    case "value":
      return isTrue(valueOf(condition.operand, lookup));
    case "compare":
      return compare(condition.op, valueOf(condition.left, lookup), valueOf(condition.right, lookup));
    case "in": {
      const value = valueOf(condition.operand, lookup);
      return condition.list.some((item) => valueOf(item, lookup) === value);
    }
    case "not":
      return !evaluate(condition.inner, lookup);
    case "and":
      return evaluate(condition.left, lookup) && evaluate(condition.right, lookup);
    case "or":
      return evaluate(condition.left, lookup) || evaluate(condition.right, lookup);
  }
}

function valueOf(operand: Operand, lookup: Lookup): Json {
  return operand.type === "literal" ? operand.value : (lookup(operand.path) ?? null);
}

function isTrue(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Converts nothing: "3" is not 3, and a value that is not a number is neither smaller nor greater. */
function compare(op: Comparison, left: Json, right: Json): boolean {
  if (op === "==") return left === right;
  if (op === "!=") return left !== right;
  if (typeof left !== "number" || typeof right !== "number") return false;
  switch (op) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

function operandsOf(condition: Condition): readonly Operand[] {
  switch (condition.type) {
    case "value":
      return [condition.operand];
    case "compare":
      return [condition.left, condition.right];
    case "in":
      return [condition.operand, ...condition.list];
    case "not":
      return operandsOf(condition.inner);
    case "and":
    case "or":
      return [...operandsOf(condition.left), ...operandsOf(condition.right)];
  }
}

type Token = { readonly type: "text" | "number" | "name" | "sign" | "end"; readonly text: string; readonly at: number };

/** Thrown and caught in this file only: it keeps the recursive parser short. */
class Unparsable extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

function parse(text: string): Result<Condition> {
  try {
    if (text.length > MAX_CHARS) throw new Unparsable(MAX_CHARS, `a condition has at most ${MAX_CHARS} characters`);
    return ok(parseTokens(tokenize(text)));
  } catch (problem) {
    if (!(problem instanceof Unparsable)) throw problem;
    const message = `the condition is not understood at column ${problem.at + 1}: ${problem.message}`;
    return err({ code: "invalid_condition", message, hint: ALLOWED });
  }
}

const KEYWORDS = new Set(["and", "or", "not", "in", "true", "false", "none"]);
const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
/** Names with a meaning in JavaScript objects, never a fact. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

type Cursor = { readonly tokens: readonly Token[]; position: number; depth: number };

function parseTokens(tokens: readonly Token[]): Condition {
  const cursor: Cursor = { tokens, position: 0, depth: 0 };
  const condition = parseOr(cursor);
  if (peek(cursor).type !== "end") fail(cursor, "and, or, a comparison, or the end");
  return condition;
}

function peek({ tokens, position }: Cursor): Token {
  return tokens[position] ?? { type: "end", text: "", at: 0 };
}

function take(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.position++;
  return token;
}

function isWord(cursor: Cursor, word: string): boolean {
  return peek(cursor).type === "name" && peek(cursor).text === word;
}

function isSign(cursor: Cursor, sign: string): boolean {
  return peek(cursor).type === "sign" && peek(cursor).text === sign;
}

function fail(cursor: Cursor, expected: string): never {
  const token = peek(cursor);
  throw new Unparsable(token.at, `expected ${expected}, found ${token.type === "end" ? "the end" : `"${token.text}"`}`);
}

function expectSign(cursor: Cursor, sign: string): void {
  if (isSign(cursor, sign)) take(cursor);
  else fail(cursor, `"${sign}"`);
}

function deeper<T>(cursor: Cursor, inner: (cursor: Cursor) => T): T {
  if (++cursor.depth > MAX_DEPTH) throw new Unparsable(peek(cursor).at, `nested more than ${MAX_DEPTH} deep`);
  const value = inner(cursor);
  cursor.depth--;
  return value;
}

function parseOr(cursor: Cursor): Condition {
  let left = parseAnd(cursor);
  while (isWord(cursor, "or")) {
    take(cursor);
    left = { type: "or", left, right: parseAnd(cursor) };
  }
  return left;
}

function parseAnd(cursor: Cursor): Condition {
  let left = parseNot(cursor);
  while (isWord(cursor, "and")) {
    take(cursor);
    left = { type: "and", left, right: parseNot(cursor) };
  }
  return left;
}

function parseNot(cursor: Cursor): Condition {
  if (!isWord(cursor, "not")) return parseComparison(cursor);
  take(cursor);
  return { type: "not", inner: deeper(cursor, parseNot) };
}

function parseComparison(cursor: Cursor): Condition {
  if (isSign(cursor, "(")) {
    take(cursor);
    const inner = deeper(cursor, parseOr);
    expectSign(cursor, ")");
    return inner;
  }
  const left = parseOperand(cursor);
  if (peek(cursor).type === "sign" && COMPARISONS.has(peek(cursor).text)) {
    return { type: "compare", op: take(cursor).text as Comparison, left, right: parseOperand(cursor) };
  }
  if (isWord(cursor, "in")) {
    take(cursor);
    return { type: "in", operand: left, list: parseList(cursor) };
  }
  if (isWord(cursor, "not")) {
    take(cursor);
    if (!isWord(cursor, "in")) fail(cursor, '"in"');
    take(cursor);
    return { type: "not", inner: { type: "in", operand: left, list: parseList(cursor) } };
  }
  return { type: "value", operand: left };
}

function parseList(cursor: Cursor): readonly Operand[] {
  expectSign(cursor, "[");
  const list = [parseOperand(cursor)];
  while (isSign(cursor, ",")) {
    take(cursor);
    list.push(parseOperand(cursor));
  }
  expectSign(cursor, "]");
  return list;
}

function parseOperand(cursor: Cursor): Operand {
  const token = peek(cursor);
  if (token.type === "text") return { type: "literal", value: take(cursor).text };
  if (token.type === "number") return { type: "literal", value: Number(take(cursor).text) };
  if (token.type !== "name") return fail(cursor, "a fact or a value");
  switch (token.text) {
    case "true":
    case "false":
      return { type: "literal", value: take(cursor).text === "true" };
    case "none":
      take(cursor);
      return { type: "literal", value: null };
    case "last":
      return { type: "fact", path: parseLast(cursor) };
    default:
      if (KEYWORDS.has(token.text)) fail(cursor, "a fact or a value");
      return { type: "fact", path: [factName(cursor), ...parseFields(cursor)] };
  }
}

function parseLast(cursor: Cursor): readonly string[] {
  take(cursor);
  expectSign(cursor, "(");
  if (peek(cursor).type !== "text" || peek(cursor).text === "")
    fail(cursor, "a stage id in quotes, as in last('review')");
  const stage = take(cursor).text;
  expectSign(cursor, ")");
  const fields = parseFields(cursor);
  if (fields.length !== 1) fail(cursor, "one field, as in last('review').verdict");
  return ["last", stage, ...fields];
}

function parseFields(cursor: Cursor): readonly string[] {
  const fields: string[] = [];
  while (isSign(cursor, ".")) {
    take(cursor);
    fields.push(factName(cursor));
  }
  return fields;
}

function factName(cursor: Cursor): string {
  if (peek(cursor).type !== "name" || FORBIDDEN.has(peek(cursor).text)) fail(cursor, "the name of a fact");
  return take(cursor).text;
}

const NAME_START = /[A-Za-z_]/;
const NAME_PART = /[A-Za-z0-9_-]/;
const DIGIT = /[0-9]/;

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (char === " " || char === "\t" || char === "\n" || char === "\r") {
      at++;
      continue;
    }
    let end = at + 1;
    if (char === "'" || char === '"') {
      const close = text.indexOf(char, at + 1);
      if (close === -1) throw new Unparsable(at, "a quote is not closed");
      tokens.push({ type: "text", text: text.slice(at + 1, close), at });
      at = close + 1;
      continue;
    }
    if (NAME_START.test(char)) {
      while (NAME_PART.test(text.charAt(end))) end++;
      tokens.push({ type: "name", text: text.slice(at, end), at });
    } else if (DIGIT.test(char) || (char === "-" && DIGIT.test(next))) {
      while (DIGIT.test(text.charAt(end))) end++;
      if (text.charAt(end) === "." && DIGIT.test(text.charAt(end + 1))) {
        end++;
        while (DIGIT.test(text.charAt(end))) end++;
      }
      tokens.push({ type: "number", text: text.slice(at, end), at });
    } else if (COMPARISONS.has(char + next)) {
      end = at + 2;
      tokens.push({ type: "sign", text: char + next, at });
    } else if ("<>()[].,".includes(char)) {
      tokens.push({ type: "sign", text: char, at });
    } else {
      const meant =
        char === "="
          ? '; did you mean "=="?'
          : char === "&"
            ? '; did you mean "and"?'
            : char === "|"
              ? '; did you mean "or"?'
              : "";
      throw new Unparsable(at, `"${char}" is not part of a condition${meant}`);
    }
    at = end;
  }
  tokens.push({ type: "end", text: "", at: text.length });
  return tokens;
}
