// The text of Atlassian's document format, as Jira sends descriptions: paragraphs, lists and code as plain lines. It is untrusted.

import { isList, isObject } from "../core/verdict/report-fields.ts";
import type { Json } from "../core/json.ts";

const MAX_CHARS = 60_000;
const MAX_DEPTH = 40;
const BLOCKS: ReadonlySet<string> = new Set([
  "paragraph",
  "heading",
  "listItem",
  "codeBlock",
  "blockquote",
  "rule",
  "tableRow",
  "hardBreak",
]);

export function documentText(document: unknown): string {
  const parts: string[] = [];
  let chars = 0;
  const walk = (node: Json, depth: number): void => {
    if (depth > MAX_DEPTH || chars > MAX_CHARS || !isObject(node)) return;
    const { type, text, content } = node;
    if (type === "listItem") parts.push("- ");
    if (typeof text === "string") {
      parts.push(text);
      chars += text.length;
    }
    if (content !== undefined && isList(content)) for (const child of content) walk(child, depth + 1);
    if (typeof type === "string" && BLOCKS.has(type)) parts.push("\n");
  };
  walk(document as Json, 0);
  return parts
    .join("")
    .slice(0, MAX_CHARS)
    .replaceAll(/\n{3,}/gu, "\n\n")
    .trim();
}
