// Changes single keys of a file's front matter by splicing text, so that everything else stays byte for byte: body, comments, order,
// unknown keys, quotes, line ends. It parses the result and writes nothing if any other key differs.

import { isDeepStrictEqual } from "node:util";
import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { splitFrontMatter } from "../../file/front-matter.ts";
import { readYaml } from "../../file/yaml.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type YamlValue, yamlValue } from "../../core/ticket/yaml-value.ts";

/** Null removes the key. */
export type KeyChanges = Readonly<Record<string, YamlValue | null | undefined>>;

export function rewriteFrontMatter(text: string, changes: KeyChanges): Result<string> {
  const before = readKeys(text);
  if (!before.ok) return before;
  const wanted = Object.entries(changes).filter(
    (change): change is [string, YamlValue | null] =>
      change[1] !== undefined && !isDeepStrictEqual(before.value[change[0]] ?? null, change[1]),
  );
  if (wanted.length === 0) return ok(text);
  const area = areaOf(text);
  const root = parseDocument(area.yaml, { schema: "core", keepSourceTokens: true, logLevel: "silent" }).contents;
  if (!isMap(root)) throw new Error("front matter that was read is not a mapping");
  // New keys come last: an item added to a list at the end of the area goes in at the same offset and must stay with its list.
  const [there, added] = [wanted.filter(([key]) => pairOf(root, key)), wanted.filter(([key]) => !pairOf(root, key))];
  const splices = [...there, ...added].flatMap(([key, value]) => spliceKey(area, root, key, value));
  const after = applySplices(area.yaml, splices);
  const changed = text.slice(0, area.start) + after + text.slice(area.start + area.yaml.length);
  return says(changed, before.value, wanted) ? ok(changed) : err(notRewritable(wanted.map(([key]) => key)));
}

type Keys = Readonly<Record<string, unknown>>;

/** The front matter as data, for comparing. */
function readKeys(text: string): Result<Keys> {
  const split = splitFrontMatter(text);
  if (!split.ok) return split;
  const read = readYaml(split.value.yaml, { file: "", subject: "ticket", linesBefore: 1 });
  if (read.ok) return ok(read.value.value);
  const [first] = read.error;
  return err({ code: first?.code ?? "yaml_syntax", message: `line ${first?.line ?? 1}: ${first?.message ?? ""}` });
}

type Area = {
  /** Where the YAML begins in the file. */
  readonly start: number;
  /** Up to and including the line end before the closing line. */
  readonly yaml: string;
  readonly lineEnd: "\n" | "\r\n";
};

/** Only called for a text whose front matter could be split. */
function areaOf(text: string): Area {
  const start = text.indexOf("\n") + 1;
  let end = start;
  while (!/^---\r?(?:\n|$)/u.test(text.slice(end, end + 5))) end = text.indexOf("\n", end) + 1;
  return { start, yaml: text.slice(start, end), lineEnd: text[start - 2] === "\r" ? "\r\n" : "\n" };
}

type Splice = { readonly from: number; readonly to: number; readonly text: string };

function spliceKey(area: Area, root: YAMLMap, key: string, value: YamlValue | null): readonly Splice[] {
  const pair = pairOf(root, key);
  if (pair === undefined) return value === null ? [] : [insertion(area, root, key, value)];
  if (value === null && root.flow !== true) return [removal(area, pair)];
  return replacement(area, pair, value);
}

function pairOf(root: YAMLMap, key: string): Pair<Node, Node> | undefined {
  return root.items.find((item) => isScalar(item.key) && item.key.value === key) as Pair<Node, Node> | undefined;
}

function insertion({ yaml, lineEnd }: Area, root: YAMLMap, key: string, value: YamlValue): Splice {
  const line = `${key}: ${yamlValue(value)}`;
  if (root.flow === true) {
    const end = (root.range?.[1] ?? yaml.length) - 1;
    return { from: end, to: end, text: root.items.length === 0 ? line : `, ${line}` };
  }
  const first = (root.items[0]?.key as Node | undefined)?.range?.[0] ?? 0;
  const indent = " ".repeat(first - lineStart(yaml, first));
  // People look for the id first.
  const at = key === "id" ? lineStart(yaml, first) : yaml.length;
  return { from: at, to: at, text: `${indent}${line}${lineEnd}` };
}

function removal({ yaml }: Area, pair: Pair<Node, Node>): Splice {
  const from = lineStart(yaml, pair.key.range?.[0] ?? 0);
  return { from, to: nextLine(yaml, endOf(yaml, pair)), text: "" };
}

function replacement({ yaml, lineEnd }: Area, pair: Pair<Node, Node>, value: YamlValue | null): readonly Splice[] {
  const text = value === null ? "null" : yamlValue(value, quotesOf(yaml, pair));
  const colon = colonOf(pair);
  const kind = pair.srcToken?.value?.type;
  if (kind === undefined) return [{ from: colon + 1, to: colon + 1, text: ` ${text}` }];
  const start = pair.value?.range?.[0] ?? colon + 1;
  const end = endOf(yaml, pair);
  if (kind === "block-scalar") return [{ from: colon + 1, to: end, text: ` ${text}` }];
  if (kind !== "block-seq" && kind !== "block-map") return [{ from: start, to: end, text }];
  if (isSeq(pair.value) && Array.isArray(value)) {
    const lines = sequenceLines(yaml, pair.value, value, lineEnd);
    if (lines !== undefined) return lines;
  }
  return [
    { from: colon + 1, to: colon + 1, text: ` ${text}` },
    { from: lineStart(yaml, start), to: nextLine(yaml, end), text: "" },
  ];
}

/** A list with an item per line keeps its lines and their comments; undefined if the order changes. */
function sequenceLines(
  yaml: string,
  list: YAMLSeq,
  value: readonly string[],
  lineEnd: string,
): readonly Splice[] | undefined {
  const items = list.items as readonly Node[];
  const words = items.map((item) => (isScalar(item) ? String(item.value) : ""));
  const kept = words.filter((word) => value.includes(word));
  if (kept.length === 0 || !kept.every((word, at) => value[at] === word)) return undefined;
  const gone = items.filter((_, at) => !value.includes(words[at] ?? ""));
  const indent = " ".repeat((list.range?.[0] ?? 0) - lineStart(yaml, list.range?.[0] ?? 0));
  const end = nextLine(yaml, items.at(-1)?.range?.[1] ?? 0);
  const added = value.slice(kept.length).map((word) => `${indent}- ${yamlValue(word)}${lineEnd}`);
  return [
    ...gone.map((item) => ({
      from: lineStart(yaml, item.range?.[0] ?? 0),
      to: nextLine(yaml, item.range?.[1] ?? 0),
      text: "",
    })),
    { from: end, to: end, text: added.join("") },
  ];
}

function colonOf({ srcToken }: Pair<Node, Node>): number {
  const sep = srcToken !== undefined && "sep" in srcToken ? srcToken.sep : undefined;
  const colon = sep?.find(({ type }) => type === "map-value-ind");
  return colon === undefined ? Number.NaN : colon.offset;
}

/** Where the value ends, without the line ends that belong to a block. */
function endOf(yaml: string, pair: Pair<Node, Node>): number {
  const colon = colonOf(pair);
  let end = pair.value?.range?.[1] ?? colon + 1;
  while (end > colon + 1 && /[\r\n]/u.test(yaml[end - 1] ?? "")) end--;
  return Math.max(end, colon + 1);
}

function quotesOf(yaml: string, { value }: Pair<Node, Node>): "" | "'" | '"' {
  const first = isScalar(value) ? yaml[value.range?.[0] ?? 0] : "";
  return first === "'" || first === '"' ? first : "";
}

function lineStart(yaml: string, at: number): number {
  return at === 0 ? 0 : yaml.lastIndexOf("\n", at - 1) + 1;
}

function nextLine(yaml: string, at: number): number {
  const newline = yaml.indexOf("\n", at);
  return newline === -1 ? yaml.length : newline + 1;
}

/** From the end, so that earlier offsets stay valid; insertions at one offset keep their order. */
function applySplices(yaml: string, splices: readonly Splice[]): string {
  const ordered = splices.toSorted((one, other) => one.from - other.from || one.to - other.to);
  let text = "";
  let at = 0;
  for (const splice of ordered) {
    text += yaml.slice(at, splice.from) + splice.text;
    at = Math.max(at, splice.to);
  }
  return text + yaml.slice(at);
}

function says(text: string, before: Keys, wanted: readonly (readonly [string, YamlValue | null])[]): boolean {
  const after = readKeys(text);
  if (!after.ok) return false;
  const changed = new Map<string, unknown>(wanted);
  const keys = new Set([...Object.keys(before), ...Object.keys(after.value), ...changed.keys()]);
  return [...keys].every((key) =>
    changed.has(key)
      ? isDeepStrictEqual(after.value[key] ?? null, changed.get(key))
      : isDeepStrictEqual(after.value[key], before[key]),
  );
}

function notRewritable(keys: readonly string[]) {
  return {
    code: "ticket_not_rewritable",
    message: `${keys.join(", ")} cannot be changed in this front matter without changing more`,
    hint: "write plain lines (key: value) between the two --- lines",
  };
}
