// Source 004's later form: the last `WORK_RESULT:` block, `key: value` lines indented by two spaces, `|` for several lines.
// `next_status` is a claim: the flow decides the status.

import { ok } from "../result.ts";
import {
  clip,
  ITEM_CHARS,
  present,
  type Reading,
  SUMMARY_CHARS,
  TAIL_CHARS,
  unreadable,
  WORD_CHARS,
} from "./reading.ts";

const MARK = "WORK_RESULT:";
const KEYS =
  `success stage_completed workflow next_status branch_name repo_url commit_hash artifact_path merge_status pr_url preview_url
  merge_conflict_files summary error`.split(/\s+/);
const MERGE_WORDS = ["success", "blocked", "pr_created", "pr_failed"];
const MAX_LINES = 1000;

export function readWorkResult(text: string): Reading {
  const tail = text.slice(-TAIL_CHARS);
  const start = lastMark(tail, tail.length);
  if (start === -1) return unreadable("verdict_missing", `No ${MARK} block was found at the end of the output.`);
  const block = readBlock(tail, start + MARK.length);
  if (typeof block === "string") return unreadable("verdict_field_invalid", block);

  const { values, warnings } = block;
  const success = values.get("success");
  if (success !== "true" && success !== "false") {
    return unreadable(
      "verdict_field_invalid",
      `${MARK} needs "success: true" or "success: false"${success === undefined ? "" : `, not ${show(success)}`}.`,
    );
  }
  const merge = values.get("merge_status");
  if (merge !== undefined && !MERGE_WORDS.includes(merge)) {
    return unreadable(
      "verdict_field_invalid",
      `merge_status must be one of ${MERGE_WORDS.join(", ")}, not ${show(merge)}.`,
    );
  }
  if (start > 0 && lastMark(tail, start - 1) !== -1) warnings.push(`several ${MARK} blocks: the last counts`);
  const summary = values.get("summary");
  const reason = values.get("error");
  const status = values.get("next_status");
  return ok(
    present({
      health: success === "true" ? "success" : "failure",
      summary: summary === undefined ? undefined : clip(summary, SUMMARY_CHARS),
      reason: reason === undefined ? undefined : clip(reason, ITEM_CHARS),
      claimed: status === undefined ? undefined : { status: clip(status, WORD_CHARS) },
      payload: Object.fromEntries(values),
      warnings: warnings.length > 0 ? warnings : undefined,
    }),
  );
}

/** The last mark alone at the start of a line, at or before `before`. */
function lastMark(text: string, before: number): number {
  for (let at = text.lastIndexOf(MARK, before); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(MARK, at - 1)) {
    const isLineStart = at === 0 || text[at - 1] === "\n";
    const rest = text.slice(at + MARK.length, at + MARK.length + 100);
    if (isLineStart && (rest.trim() === "" || /^[ \t]{0,90}\r?\n/.test(rest))) return at;
  }
  return -1;
}

type Block = { readonly values: Map<string, string>; readonly warnings: string[] };

/** The keys and values up to the first line outside the block; a string describes a fault. */
function readBlock(text: string, from: number): Block | string {
  const values = new Map<string, string>();
  const warnings: string[] = [];
  let open: string[] | undefined;
  let openKey = "";
  const finish = () => {
    const value = open?.join("\n").trim();
    if (value && KEYS.includes(openKey)) values.set(openKey, value);
    open = undefined;
  };
  const [, ...lines] = text.slice(from).split("\n", MAX_LINES + 2);
  if (lines.length > MAX_LINES) lines.length = MAX_LINES;
  for (const raw of lines) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    if (open && (line.startsWith("    ") || line.trim() === "")) {
      open.push(line.slice(4));
      continue;
    }
    finish();
    if (line.trim() === "") continue;
    if (!line.startsWith("  ")) break;
    const colon = line.indexOf(":");
    const key = line.slice(2, Math.max(2, colon));
    if (!/^[a-z][a-z_]{0,39}$/.test(key)) return `${MARK} has the line ${show(line)}; "  key: value" is expected.`;
    if (values.has(key)) return `${MARK} has the key ${key} twice.`;
    if (!KEYS.includes(key)) warnings.push(`${MARK} has the unknown key ${key}; it was ignored`);
    const value = line.slice(colon + 1).trim();
    if (value === "" || value === "|") {
      openKey = key;
      open = [];
    } else if (KEYS.includes(key)) values.set(key, value);
  }
  finish();
  return { values, warnings: warnings.slice(0, 20) };
}

function show(value: string): string {
  return JSON.stringify(clip(value, WORD_CHARS));
}
