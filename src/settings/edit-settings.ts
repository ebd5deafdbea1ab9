// Changes one key in the text of a settings file and keeps everything else as the person wrote it, comments included.

import { type Document, isMap, type Node, parseDocument, stringify } from "yaml";
import type { Json } from "../core/json.ts";

/** `value` undefined removes the key. The text must be readable YAML or say nothing. */
export function editSettings(text: string, path: readonly string[], value: Json | undefined): string {
  const document = parseDocument(text, { schema: "core", version: "1.2", keepSourceTokens: false });
  const node = document.getIn(path, true) as Node | undefined;
  if (value === undefined) return node === undefined ? text : without(document, path);
  const range = node?.range;
  if (range !== undefined && range !== null) return spliced(text, range[0], range[1], inline(value));
  const [first = "", ...rest] = path;
  const isNew = document.contents === null || (isMap(document.contents) && !document.contents.has(first));
  if (isNew && !isFlowMap(document.contents)) return appended(text, first, nested(rest, value));
  document.setIn(path, document.createNode(value, { flow: true }));
  return document.toString({ lineWidth: 0 });
}

/** A group without keys would be `null`, which no group is. */
function without(document: Document, path: readonly string[]): string {
  document.deleteIn(path);
  for (let length = path.length - 1; length > 0; length--) {
    const group = document.getIn(path.slice(0, length), true);
    if (!isMap(group) || group.items.length > 0) break;
    document.deleteIn(path.slice(0, length));
  }
  return isMap(document.contents) && document.contents.items.length === 0 ? "" : document.toString({ lineWidth: 0 });
}

function spliced(text: string, from: number, to: number, fresh: string): string {
  // A block ends with its line; its replacement is one line.
  const end = text.slice(from, to).endsWith("\n") ? "\n" : "";
  return `${text.slice(0, from)}${fresh}${end}${text.slice(to)}`;
}

function appended(text: string, key: string, value: Json): string {
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${before}${inline(key)}: ${inline(value)}\n`;
}

function nested(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}

function isFlowMap(node: unknown): boolean {
  return isMap(node) && node.flow === true;
}

function inline(value: Json): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
}
