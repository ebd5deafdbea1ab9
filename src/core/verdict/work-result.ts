// Source 004's later form: exactly one `WORK_RESULT:` block, `key: value` lines indented by two spaces, `|` for several lines.
// `next_status` is a claim: the flow decides the status. The whole text is read: blocks that differ make the result ambiguous.

import { ok } from "../result.ts";
import { findingLines } from "./finding-notes.ts";
import {
  clip,
  ITEM_CHARS,
  MAX_BLOCKS,
  present,
  type Reading,
  type Signing,
  SUMMARY_CHARS,
  unreadable,
  WORD_CHARS,
} from "./reading.ts";

const MARK = "WORK_RESULT:";
const KEYS =
  `success stage_completed workflow next_status branch_name repo_url commit_hash artifact_path merge_status pr_url preview_url
  merge_conflict_files summary error findings nonce`.split(/\s+/);
const MERGE_WORDS = ["success", "blocked", "pr_created", "pr_failed"];
const MAX_LINES = 1000;

const UNSIGNED: Signing = { nonce: "", required: false };

export function readWorkResult(text: string, { nonce, required, isQuoted }: Signing = UNSIGNED): Reading {
  const marks = marksIn(text);
  if (marks.length > MAX_BLOCKS)
    return unreadable(
      "verdict_ambiguous",
      `The output holds more than ${MAX_BLOCKS} ${MARK} blocks. Give exactly one.`,
    );
  const blocks = marks.map((mark) => readBlock(text, mark)).filter(({ raw }) => isQuoted?.(raw) !== true);
  const signed = nonce === "" ? [] : blocks.filter(({ raw }) => raw.includes(nonce));
  if (blocks.length === 0) return unreadable("verdict_missing", `No ${MARK} block was found in the output.`);
  if (required && signed.length === 0)
    return unreadable("verdict_unsigned", `The ${MARK} block does not carry this attempt's nonce as the prompt asks.`);
  const own = signed.length > 0 ? signed : blocks;
  const fault = own.find((block) => block.fault !== undefined)?.fault;
  if (fault !== undefined) return unreadable("verdict_field_invalid", fault);
  const [first, ...others] = own.map(meaningOf);
  if (others.some((meaning) => meaning !== first))
    return unreadable("verdict_ambiguous", `The output holds ${MARK} blocks that differ. Give exactly one.`);
  return toReading(own.at(-1)?.values ?? new Map(), own.at(-1)?.warnings ?? []);
}

function meaningOf({ values }: Block): string {
  return JSON.stringify([values.get("success"), values.get("next_status")]);
}

function toReading(values: ReadonlyMap<string, string>, warnings: readonly string[]): Reading {
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
  const summary = values.get("summary");
  const reason = values.get("error");
  const status = values.get("next_status");
  const issues = findingLines(values.get("findings") ?? "");
  return ok(
    present({
      health: success === "true" ? "success" : "failure",
      summary: summary === undefined ? undefined : clip(summary, SUMMARY_CHARS),
      reason: reason === undefined ? undefined : clip(reason, ITEM_CHARS),
      issues: issues.length === 0 ? undefined : issues,
      claimed: status === undefined ? undefined : { status: clip(status, WORD_CHARS) },
      payload: Object.fromEntries([...values].filter(([key]) => key !== "nonce")),
      warnings: warnings.length > 0 ? warnings : undefined,
    }),
  );
}

/** `start`: of its line; `body`: of the line below. `isAlone`: nothing but emphasis is beside it. */
type Mark = { readonly start: number; readonly body: number; readonly isAlone: boolean };

/** Every line that begins with the mark. Bold, a heading or a list do not hide it; a quote belongs to another author. */
function marksIn(text: string): readonly Mark[] {
  const marks: Mark[] = [];
  for (let at = text.indexOf(WORD); at !== -1 && marks.length <= MAX_BLOCKS; at = text.indexOf(WORD, at + 1)) {
    const before = text.slice(Math.max(0, at - BEFORE_CHARS - 1), at);
    const start = at - before.length + before.lastIndexOf("\n") + 1;
    if (start > 0 && text[start - 1] !== "\n") continue;
    const after = text.slice(at + WORD.length, at + WORD.length + 200);
    if (!/^[#*_`+\- \t]*$/u.test(text.slice(start, at)) || !/^[*_`]{0,5}:/u.test(after)) continue;
    const newline = text.indexOf("\n", at);
    const body = newline === -1 ? text.length : newline + 1;
    marks.push({ start, body, isAlone: /^[*_`:]{1,10}[ \t]{0,90}\r?(?:\n|$)/u.test(after) });
    at = body - 1;
  }
  return marks;
}

const WORD = "WORK_RESULT";
/** Of emphasis and list marks before the word. */
const BEFORE_CHARS = 20;

type Block = {
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
  /** The whole block as it was written. */
  readonly raw: string;
  readonly fault?: string;
};

/** The keys and values up to the first line outside the block. */
function readBlock(text: string, { start, body, isAlone }: Mark): Block {
  const lines = linesOf(text, body);
  const raw = text.slice(start, body + lines.reduce((chars, line) => chars + line.length + 1, 0));
  if (!isAlone) return { values: new Map(), warnings: [], raw, fault: `${MARK} must be alone on its line.` };
  const values = new Map<string, string>();
  const warnings: string[] = [];
  let open: { readonly key: string; readonly lines: string[] } | undefined;
  const close = () => {
    const value = open?.lines.join("\n").trim();
    if (open && value && KEYS.includes(open.key)) values.set(open.key, value);
    open = undefined;
  };
  const fault = (message: string): Block => ({ values, warnings, raw, fault: `${MARK} ${message}` });
  for (const whole of lines) {
    const line = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    if (open && (line.startsWith("    ") || line.trim() === "")) {
      open.lines.push(line.slice(4));
      continue;
    }
    close();
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    const key = line.slice(2, Math.max(2, colon));
    if (!/^[a-z][a-z_]{0,39}$/.test(key)) return fault(`has the line ${show(line)}; "  key: value" is expected.`);
    if (values.has(key)) return fault(`has the key ${key} twice.`);
    if (!KEYS.includes(key)) warnings.push(`${MARK} has the unknown key ${key}; it was ignored`);
    const value = line.slice(colon + 1).trim();
    if (value === "" || value === "|") open = { key, lines: [] };
    else if (KEYS.includes(key)) values.set(key, value);
  }
  close();
  return { values, warnings: warnings.slice(0, 20), raw };
}

/** The indented and blank lines below the mark. */
function linesOf(text: string, body: number): readonly string[] {
  const lines: string[] = [];
  for (let at = body; at < text.length && lines.length < MAX_LINES; ) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end);
    if (line.trim() !== "" && !line.startsWith("  ")) break;
    lines.push(line);
    at = end + 1;
  }
  return lines;
}

function show(value: string): string {
  return JSON.stringify(clip(value, WORD_CHARS));
}
