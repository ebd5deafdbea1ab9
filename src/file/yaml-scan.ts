// Scans the tokens of a YAML text before parsing and stops at the first one that is not allowed.
// It limits nesting and width, because the time to build a document grows faster than its text.

import { CST, Lexer } from "yaml";
import type { Problem } from "../core/result.ts";

const MAX_DEPTH = 40;
const MAX_KEYS = 3000;
const MAX_TOKENS = 40_000;
// oxlint-disable-next-line no-control-regex -- finding control characters is the point
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

const ALIAS: Problem = {
  code: "yaml_alias_not_allowed",
  message: "anchors (&name) and aliases (*name) are not allowed",
  hint: "write the value out, or put text that begins with & or * in quotes",
};
const REFUSED: Readonly<Partial<Record<string, Problem>>> = {
  alias: ALIAS,
  anchor: ALIAS,
  tag: {
    code: "yaml_tag_not_allowed",
    message: "tags (!name) are not allowed",
    hint: "put text that begins with ! in quotes",
  },
  "directive-line": { code: "yaml_directive_not_allowed", message: "directives (%NAME) are not allowed" },
};
/** Tokens that begin a value or an item, and so are nested in the token to their left. */
const STRUCTURE = new Set([
  "seq-item-ind",
  "explicit-key-ind",
  "single-quoted-scalar",
  "double-quoted-scalar",
  "block-scalar-header",
]);

export function scanYaml(text: string, subject: string): (Problem & { readonly offset: number }) | undefined {
  const control = text.search(CONTROL);
  if (control !== -1)
    return { offset: control, code: "control_character", message: "the text holds a control character" };
  let offset = 0;
  let lineStart = 0;
  let flowDepth = 0;
  let keys = 0;
  let tokens = 0;
  let isScalarText = false;
  const columns: number[] = [];
  for (const token of new Lexer().lex(text)) {
    const type: CST.TokenType | null = isScalarText ? null : CST.tokenType(token);
    // The lexer puts a mark before plain text. The text after the mark is text, even if it looks like a sign.
    isScalarText = type === "scalar";
    if (type === "scalar" && flowDepth === 0) nest(columns, offset - lineStart);
    if (type === "scalar" || type === "doc-mode" || type === "flow-error-end") continue;

    const refused = type === null ? undefined : REFUSED[type];
    if (refused !== undefined) return { ...refused, offset };
    if (type !== null && STRUCTURE.has(type) && flowDepth === 0) nest(columns, offset - lineStart);
    if (type === "flow-map-start" || type === "flow-seq-start") flowDepth++;
    if (type === "flow-map-end" || type === "flow-seq-end") flowDepth = Math.max(0, flowDepth - 1);
    if (type === "map-value-ind") keys++;
    tokens++;

    const tooDeep = columns.length + flowDepth > MAX_DEPTH;
    if (tooDeep) return { offset, code: `${subject}_too_deep`, message: `nested more than ${MAX_DEPTH} deep` };
    if (keys > MAX_KEYS) return { offset, code: `${subject}_too_large`, message: `more than ${MAX_KEYS} keys` };
    if (tokens > MAX_TOKENS)
      return { offset, code: `${subject}_too_large`, message: `more than ${MAX_TOKENS} words and signs` };

    const newline = token.lastIndexOf("\n");
    if (newline !== -1) lineStart = offset + newline + 1;
    offset += token.length;
  }
  return undefined;
}

/** A token further right than the last one is inside it. For plain values this counts at most one level too many. */
function nest(columns: number[], column: number): void {
  while ((columns.at(-1) ?? -1) >= column) columns.pop();
  columns.push(column);
}
