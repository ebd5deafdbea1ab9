// Reads the few keys of a user's config.toml that Passrail must know: strings and switches, by their whole path. It is no reader of TOML:
// values of any other kind are left out, and a line that it cannot tell makes the whole file unknown.

import type { Json } from "../../core/json.ts";
import { parseLine } from "../loose-json.ts";

/** Path with dots -> string or boolean; null where the file has something that could hide a key. */
export function readTomlKeys(text: string): ReadonlyMap<string, string | boolean> | null {
  const found = new Map<string, string | boolean>();
  let table: readonly string[] = [];
  let open: string | null = null;
  for (const line of text.split(/\r?\n/u)) {
    if (open !== null) {
      if (line.includes(open)) open = null;
      continue;
    }
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const header = /^\[{1,2}\s*(.+?)\s*\]{1,2}\s*(?:#.*)?$/u.exec(trimmed);
    if (header !== null && !trimmed.includes("=")) {
      const path = pathOf(header[1] ?? "");
      if (path === null) return null;
      table = path;
      continue;
    }
    const at = trimmed.indexOf("=");
    const key = at < 0 ? null : pathOf(trimmed.slice(0, at).trim());
    if (key === null) return null;
    const value = trimmed.slice(at + 1).trim();
    open = openEnd(value);
    if (open !== null) continue;
    const read = valueOf(value);
    if (read !== undefined) found.set([...table, ...key].join("."), read);
  }
  return found;
}

/** The text that ends a value of several lines; null for one that ends on its own line. */
function openEnd(value: string): string | null {
  for (const quotes of ['"""', "'''"])
    if (value.startsWith(quotes)) return value.indexOf(quotes, 3) < 0 ? quotes : null;
  if (!value.startsWith("[")) return null;
  return value.replace(/#.*$/u, "").trimEnd().endsWith("]") ? null : "]";
}

const BARE = /^[A-Za-z0-9_-]+/u;

function pathOf(text: string): readonly string[] | null {
  const parts: string[] = [];
  for (let rest = text; ; ) {
    const quoted = /^"((?:[^"\\]|\\.)*)"|^'([^']*)'/u.exec(rest);
    const bare = BARE.exec(rest);
    const found = quoted ?? bare;
    if (found === null) return null;
    parts.push(quoted === null ? found[0] : (quoted[1] ?? quoted[2] ?? ""));
    rest = rest.slice(found[0].length).trimStart();
    if (rest === "") return parts;
    if (!rest.startsWith(".")) return null;
    rest = rest.slice(1).trimStart();
  }
}

function valueOf(value: string): string | boolean | undefined {
  const literal = /^'([^']*)'\s*(?:#.*)?$/u.exec(value);
  if (literal !== null) return literal[1] ?? "";
  const basic = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/u.exec(value);
  if (basic !== null) {
    const read = parseLine(basic[1] ?? "") as Json | undefined;
    return typeof read === "string" ? read : undefined;
  }
  return { true: true, false: false }[value.replace(/\s*#.*$/u, "")];
}
