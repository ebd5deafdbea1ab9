// The conditions of a flow file (`when: "plan.new_infra and not input.agent"`): a small closed language over named facts.
// Nothing is evaluated as code, nothing can be called, and a fact that is missing is `none`, which is false.

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

/** Whether a condition holds. The text has passed the flow check; a text that does not parse is a bug of the caller. */
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

/** Nothing is converted: "3" is not 3, and what is not a number is neither smaller nor greater. */
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

/** Thrown and caught in this file only: a recursive parser is shorter and clearer with one way out. */
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
/** Names that mean something to JavaScript objects, never a fact. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

function parseTokens(tokens: readonly Token[]): Condition {
  let position = 0;
  let depth = 0;

  const peek = (): Token => tokens[position] ?? { type: "end", text: "", at: 0 };
  const take = (): Token => {
    const token = peek();
    position++;
    return token;
  };
  const isWord = (word: string): boolean => peek().type === "name" && peek().text === word;
  const isSign = (sign: string): boolean => peek().type === "sign" && peek().text === sign;
  const fail = (expected: string): never => {
    const token = peek();
    throw new Unparsable(
      token.at,
      `expected ${expected}, found ${token.type === "end" ? "the end" : `"${token.text}"`}`,
    );
  };
  const expectSign = (sign: string): void => {
    if (isSign(sign)) take();
    else fail(`"${sign}"`);
  };
  const deeper = <T>(inner: () => T): T => {
    if (++depth > MAX_DEPTH) throw new Unparsable(peek().at, `nested more than ${MAX_DEPTH} deep`);
    const value = inner();
    depth--;
    return value;
  };

  const parseOr = (): Condition => {
    let left = parseAnd();
    while (isWord("or")) {
      take();
      left = { type: "or", left, right: parseAnd() };
    }
    return left;
  };
  const parseAnd = (): Condition => {
    let left = parseNot();
    while (isWord("and")) {
      take();
      left = { type: "and", left, right: parseNot() };
    }
    return left;
  };
  const parseNot = (): Condition => {
    if (!isWord("not")) return parseComparison();
    take();
    return { type: "not", inner: deeper(parseNot) };
  };
  const parseComparison = (): Condition => {
    if (isSign("(")) {
      take();
      const inner = deeper(parseOr);
      expectSign(")");
      return inner;
    }
    const left = parseOperand();
    if (peek().type === "sign" && COMPARISONS.has(peek().text)) {
      return { type: "compare", op: take().text as Comparison, left, right: parseOperand() };
    }
    if (isWord("in")) {
      take();
      return { type: "in", operand: left, list: parseList() };
    }
    if (isWord("not")) {
      take();
      if (!isWord("in")) fail('"in"');
      take();
      return { type: "not", inner: { type: "in", operand: left, list: parseList() } };
    }
    return { type: "value", operand: left };
  };
  const parseList = (): readonly Operand[] => {
    expectSign("[");
    const list = [parseOperand()];
    while (isSign(",")) {
      take();
      list.push(parseOperand());
    }
    expectSign("]");
    return list;
  };
  const parseOperand = (): Operand => {
    const token = peek();
    if (token.type === "text") return { type: "literal", value: take().text };
    if (token.type === "number") return { type: "literal", value: Number(take().text) };
    if (token.type !== "name") return fail("a fact or a value");
    switch (token.text) {
      case "true":
      case "false":
        return { type: "literal", value: take().text === "true" };
      case "none":
        take();
        return { type: "literal", value: null };
      case "last":
        return { type: "fact", path: parseLast() };
      default:
        if (KEYWORDS.has(token.text)) fail("a fact or a value");
        return { type: "fact", path: [factName(), ...parseFields()] };
    }
  };
  const parseLast = (): readonly string[] => {
    take();
    expectSign("(");
    if (peek().type !== "text" || peek().text === "") fail("a stage id in quotes, as in last('review')");
    const stage = take().text;
    expectSign(")");
    const fields = parseFields();
    if (fields.length !== 1) fail("one field, as in last('review').verdict");
    return ["last", stage, ...fields];
  };
  const parseFields = (): readonly string[] => {
    const fields: string[] = [];
    while (isSign(".")) {
      take();
      fields.push(factName());
    }
    return fields;
  };
  const factName = (): string => {
    if (peek().type !== "name" || FORBIDDEN.has(peek().text)) fail("the name of a fact");
    return take().text;
  };

  const condition = parseOr();
  if (peek().type !== "end") fail("and, or, a comparison, or the end");
  return condition;
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
