// How long functions are and how many mutable names a closure holds, read from the syntax tree. A closure counts as one function with
// everything inside it: a small file with one long closure is a big function.

import { parseSync } from "oxc-parser";

export type Oversized = { readonly file: string; readonly line: number; readonly name: string; readonly size: number };

export type Sizes = {
  readonly longFunctions: readonly Oversized[];
  readonly fullClosures: readonly Oversized[];
};

const MAX_LINES = 80;
const MAX_NAMES = 5;

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

export function measure(files: ReadonlyMap<string, string>): Sizes {
  const longFunctions: Oversized[] = [];
  const fullClosures: Oversized[] = [];
  for (const [file, text] of files) {
    for (const { node, name } of functionsIn(file, text)) {
      const at = { file, name, line: lineAt(text, node.start) };
      const lines = lineAt(text, node.end) - at.line + 1;
      if (lines > MAX_LINES) longFunctions.push({ ...at, size: lines });
      const names = mutableNames(node);
      if (names > MAX_NAMES && hasInnerFunction(node)) fullClosures.push({ ...at, size: names });
    }
  }
  return { longFunctions, fullClosures };
}

type Found = { readonly node: Node; readonly name: string };

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

function functionsIn(file: string, text: string): readonly Found[] {
  const found: Found[] = [];
  const visit = (value: unknown, named: string): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, named);
      return;
    }
    if (!isNode(value)) return;
    const name = nameOf(value) ?? named;
    if (FUNCTIONS.has(value.type)) found.push({ node: value, name });
    for (const child of Object.values(value)) if (typeof child === "object" && child !== null) visit(child, name);
  };
  visit(parseSync(file, text).program, "");
  return found;
}

function nameOf(node: Node): string | undefined {
  const named = isNode(node["id"]) ? node["id"] : isNode(node["key"]) ? node["key"] : undefined;
  return typeof named?.["name"] === "string" ? named["name"] : undefined;
}

/** Names that the function declares and can change: `let`, and collections that start empty. */
function mutableNames(node: Node): number {
  return statements(node)
    .filter(({ type }) => type === "VariableDeclaration")
    .flatMap((each) =>
      (each["declarations"] as Node[]).map((declared) => ({ kind: each["kind"], init: declared["init"] })),
    )
    .filter(({ kind, init }) => kind === "let" || isEmptyCollection(init)).length;
}

function isEmptyCollection(init: unknown): boolean {
  if (!isNode(init)) return false;
  if (init.type === "ArrayExpression") return (init["elements"] as unknown[]).length === 0;
  const callee = init["callee"];
  return init.type === "NewExpression" && isNode(callee) && ["Map", "Set", "WeakMap"].includes(String(callee["name"]));
}

/** A loop's own counters are fine; state that inner functions share is not. */
function hasInnerFunction(node: Node): boolean {
  return statements(node).some(
    (each) =>
      each.type === "FunctionDeclaration" ||
      (each.type === "ReturnStatement" && isNode(each["argument"]) && each["argument"].type === "ObjectExpression"),
  );
}

function statements(node: Node): readonly Node[] {
  const body = isNode(node["body"]) ? node["body"]["body"] : undefined;
  return Array.isArray(body) ? (body as Node[]) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
