// Finds every code that a problem of the product can have, with its own words: the message and the hint as the source has them, with … for
// what is known only when it happens.

import { parseSync } from "oxc-parser";

export type ErrorCode = {
  readonly code: string;
  readonly messages: readonly string[];
  readonly hints: readonly string[];
  /** The folders of src that have it. */
  readonly folders: readonly string[];
};

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;
type Mention = { readonly code: string; readonly message: string; readonly hint: string };

const CODE = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/u;
/** Codes of one word; other one-word codes are no problems. */
const SHORT = new Set(["fatal", "interrupted", "unexpected", "unreachable"]);
/** Makers of a problem whose first argument is its code. */
const MAKERS = /^(CliError|StoreError|usageError|problem|warning|refuse|refused|fail|wrong)$/u;
/** Properties that hold a sentence for people. */
const SAID = new Set(["message", "detail"]);

export function errorCodes(files: ReadonlyMap<string, string>): readonly ErrorCode[] {
  const found = new Map<string, { messages: Set<string>; hints: Set<string>; folders: Set<string> }>();
  for (const [file, text] of files) {
    for (const { code, message, hint } of mentionsIn(file, text)) {
      const known = found.get(code) ?? { messages: new Set(), hints: new Set(), folders: new Set() };
      found.set(code, known);
      if (/[a-z]{3}/iu.test(message)) known.messages.add(message);
      if (/[a-z]{3}/iu.test(hint)) known.hints.add(hint);
      known.folders.add(file.split("/")[1] ?? "");
    }
  }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { messages, hints, folders }]) => ({
      code,
      messages: [...messages],
      hints: [...hints],
      folders: [...folders].toSorted(),
    }));
}

function mentionsIn(file: string, text: string): readonly Mention[] {
  const found: Mention[] = [];
  const { program } = parseSync(file, text);
  const constants = constantsOf(program as unknown as Node);
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const mention = value.type === "ObjectExpression" ? fromObject(value, constants) : fromCall(value, constants);
    if (mention !== undefined) found.push(mention);
    for (const child of Object.values(value)) if (typeof child === "object" && child !== null) visit(child);
  };
  visit(program);
  return found;
}

/** `{ code: "x", message, hint }`. */
function fromObject(node: Node, constants: Constants): Mention | undefined {
  const values = new Map(
    (node["properties"] as Node[]).flatMap((each) =>
      isNode(each["key"]) && isNode(each["value"]) ? [[String(each["key"]["name"]), each["value"]] as const] : [],
    ),
  );
  const code = codeOf(values.get("code"));
  if (code === undefined) return undefined;
  const said = [...values].find(([key]) => SAID.has(key))?.[1];
  return { code, message: wordsOf(said, constants), hint: wordsOf(values.get("hint"), constants) };
}

/** `usageError("x", message, hint)`; the path of a flow's problem is no sentence. */
function fromCall(node: Node, constants: Constants): Mention | undefined {
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  const callee = node["callee"];
  if (!isNode(callee) || !MAKERS.test(String(callee["name"]))) return undefined;
  const [first, ...others] = node["arguments"] as Node[];
  const code = codeOf(first);
  if (code === undefined) return undefined;
  const said = others.filter(({ type }) => type !== "ArrayExpression").map((each) => wordsOf(each, constants));
  const sentences = said.filter((each) => /[a-z]{3}/iu.test(each));
  return { code, message: sentences[0] ?? "", hint: sentences[1] ?? "" };
}

function codeOf(node: Node | undefined): string | undefined {
  const code = node?.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
  return code !== undefined && (CODE.test(code) || SHORT.has(code)) ? code : undefined;
}

type Constants = readonly { readonly name: string; readonly start: number; readonly init: Node }[];

function constantsOf(program: Node): Constants {
  const declared: Constants[number][] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const { id, init, start } = value;
    if (value.type === "VariableDeclarator" && isNode(id) && isNode(init))
      declared.push({ name: String(id["name"]), start, init });
    for (const child of Object.values(value)) if (typeof child === "object" && child !== null) visit(child);
  };
  visit(program);
  return declared;
}

const UNKNOWN = "…";

/** The sentence as far as the source has it. */
function wordsOf(node: Node | undefined, constants: Constants): string {
  switch (node?.type) {
    case "Literal":
      return String(node["value"]);
    case "TemplateLiteral":
      return (node["quasis"] as Node[]).map(({ value }) => String((value as { cooked: unknown }).cooked)).join(UNKNOWN);
    case "BinaryExpression":
      return wordsOf(node["left"] as Node, constants) + wordsOf(node["right"] as Node, constants);
    case "ConditionalExpression": {
      const ways = [node["consequent"], node["alternate"]].map((way) => wordsOf(way as Node, constants));
      return ways.toSorted((a, b) => b.length - a.length)[0] ?? "";
    }
    case "Identifier": {
      // The nearest declaration above.
      const constant = constants.findLast(({ name, start }) => name === node["name"] && start < node.start);
      return constant === undefined ? UNKNOWN : wordsOf(constant.init, []);
    }
    case "CallExpression":
      return linesOf(node, constants) ?? UNKNOWN;
    case undefined:
      return "";
    default:
      return UNKNOWN;
  }
}

/** `[first, second].join("\n")`. */
function linesOf({ callee }: Node, constants: Constants): string | undefined {
  const list = isNode(callee) ? callee["object"] : undefined;
  if (!isNode(list) || list.type !== "ArrayExpression") return undefined;
  return (list["elements"] as Node[])
    .map((each) => wordsOf(each, constants))
    .filter((each) => each !== UNKNOWN)
    .join("\n");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
