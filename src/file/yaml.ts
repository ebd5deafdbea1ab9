// YAML from people and repositories as plain data: one document, no aliases, no tags, no duplicate keys. Every value keeps its position.
// A token scan comes first, because building a deeply nested or very wide document is slow.

import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import type { FileProblem, Path } from "../core/check/problem.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { scanYaml } from "./yaml-scan.ts";
import { optional } from "../core/optional.ts";

export type Position = { readonly line: number; readonly column: number };

export type YamlText = {
  readonly value: Readonly<Record<string, unknown>>;
  /** The position of a key or list item; for a path that is not in the text, that of its nearest parent. */
  readonly at: (path: Path) => Position;
  readonly lineAt: (line: number) => string | undefined;
};

export type YamlSource = {
  readonly file: string;
  /** The kind of text, for the codes: flow_too_large, agent_too_deep … */
  readonly subject: string;
  /** Lines of the file above the text (front matter). */
  readonly linesBefore?: number;
};

const MAX_YAML_BYTES = 256 * 1024;
const MAX_FAULTS = 20;
/** `__proto__` would change an object's prototype; `<<` asks for a merge, which is not supported. */
const FORBIDDEN_KEYS = new Set(["__proto__", "<<"]);

export function readYaml(text: string, source: YamlSource): Result<YamlText, readonly FileProblem[]> {
  const before = source.linesBefore ?? 0;
  const lines = text.split("\n");
  const lineAt = (line: number): string | undefined => lines[line - 1 - before]?.replace(/\r$/, "").slice(0, 200);
  const place = (position: Position, found: Problem): FileProblem => {
    const shown = lineAt(position.line);
    const { code, message, hint } = found;
    const problem = { code, message, ...optional({ hint }), severity: "error" as const };
    return { ...problem, file: source.file, ...position, ...optional({ text: shown }) };
  };
  const top: Position = { line: 1 + before, column: 1 };

  const size = Buffer.byteLength(text);
  if (size > MAX_YAML_BYTES) {
    const message = `the text has ${Math.ceil(size / 1024)} KiB; ${MAX_YAML_BYTES / 1024} KiB are allowed`;
    return err([{ code: `${source.subject}_too_large`, message, severity: "error", file: source.file, ...top }]);
  }
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) counter.addNewLine(at + 1);
  const positionOf = (offset: number): Position => {
    const { line, col } = counter.linePos(offset);
    return { line: line + before, column: col };
  };

  const seen = WELL_FORMED.get(text);
  if (seen !== undefined) return ok({ ...plain(seen), lineAt });
  const scanned = scanYaml(text, source.subject);
  if (scanned !== undefined) return err([place(positionOf(scanned.offset), scanned)]);

  const document = parseDocument(text, {
    schema: "core",
    version: "1.2",
    merge: false,
    uniqueKeys: true,
    stringKeys: true,
    strict: true,
    prettyErrors: false,
    logLevel: "error",
  });
  const faults = [...document.errors, ...document.warnings]
    .slice(0, MAX_FAULTS)
    .map((fault) => place(positionOf(fault.pos[0]), describe(fault)));
  // The parser reports the same line more than once; the first report is enough.
  const perLine = faults.filter(({ line }, index) => faults.findIndex((other) => other.line === line) === index);
  if (perLine.length > 0) return err(perLine);
  const root = document.contents;
  if (!isMap(root)) {
    const what =
      root === null ? "the text is empty" : isSeq(root) ? "the text is a list" : "the text is a single value";
    return err([
      place(top, { code: `${source.subject}_must_be_mapping`, message: `${what}; expected key: value lines` }),
    ]);
  }
  const keys: FileProblem[] = [];
  visit(root, {
    Pair: (_, pair) => {
      if (!isScalar(pair.key) || !FORBIDDEN_KEYS.has(String(pair.key.value))) return;
      const message = `the key "${String(pair.key.value)}" is not allowed`;
      keys.push(place(positionOf(pair.key.range?.[0] ?? 0), { code: "key_not_allowed", message }));
    },
  });
  if (keys.length > 0) return err(keys);
  keep(text, document);
  return ok({ ...plain(document), lineAt });

  /** The data is made anew each time, so callers cannot change each other's. */
  function plain(from: Document): Pick<YamlText, "value" | "at"> {
    const contents = from.contents as Node;
    return {
      value: from.toJS({ maxAliasCount: 0 }) as Record<string, unknown>,
      at: (path) => positionOf(offsetOf(contents, path)),
    };
  }
}

/** Flows and agents are read again at every start of a run and are the same nearly always. Only texts without a fault, the newest of them. */
const WELL_FORMED = new Map<string, Document>();
const KEPT_TEXTS = 64;
const KEPT_BYTES = 32 * 1024;

function keep(text: string, document: Document): void {
  if (text.length > KEPT_BYTES) return;
  WELL_FORMED.set(text, document);
  const [oldest] = WELL_FORMED.keys();
  if (WELL_FORMED.size > KEPT_TEXTS && oldest !== undefined) WELL_FORMED.delete(oldest);
}

const FAULTS: Readonly<Partial<Record<string, Problem>>> = {
  DUPLICATE_KEY: { code: "duplicate_key", message: "this key was given before", hint: "keep one of the two" },
  MULTIPLE_DOCS: {
    code: "multiple_documents",
    message: "there is more than one document",
    hint: "one file holds one; remove what follows ---",
  },
  TAB_AS_INDENT: { code: "yaml_syntax", message: "a tab is used as indentation", hint: "indent with spaces" },
  NON_STRING_KEY: { code: "yaml_syntax", message: "a key has to be a plain word or text" },
};

function describe(fault: YAMLError): Problem {
  return FAULTS[fault.code] ?? { code: "yaml_syntax", message: fault.message.split("\n")[0] ?? fault.code };
}

function offsetOf(root: Node, path: Path): number {
  let node: unknown = root;
  let offset = root.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(step)];
      if (item === undefined) return offset;
      node = item;
      offset = (item as Node).range?.[0] ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}
