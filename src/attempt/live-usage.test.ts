import type { LimitUse } from "../core/run/limit-use.ts";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UNKNOWN_USAGE } from "../core/budget/usage.ts";
import { type LiveUsage, openLiveUsage } from "./live-usage.ts";

const ID = "01a1ebc1-94f7-70d1-8d3e-6c632ce6b1a3";
let home: string;
let file: string;
const limits: LimitUse[] = [];
let grown: number;
let live: LiveUsage;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-live-")));
  const folder = join(home, ".codex/sessions/2026/11/17");
  mkdirSync(folder, { recursive: true });
  file = join(folder, `rollout-2026-11-17T23-04-54-${ID}.jsonl`);
  grown = 0;
  limits.length = 0;
  live = openLiveUsage(
    "codex",
    { env: { HOME: home }, cwd: home },
    { grown: () => void (grown += 1), looked: () => {}, limits: (uses) => limits.push(...uses) },
  );
});
afterEach(() => {
  live.close();
  rmSync(home, { recursive: true, force: true });
});

const usage = (input: number, output: number, usd: number | null = null) => ({
  ...UNKNOWN_USAGE,
  inputTokens: input,
  outputTokens: output,
  usd,
});
/** The totals of the whole conversation, as codex writes them. */
function written(input: number, output: number): void {
  const total = { input_tokens: input, output_tokens: output };
  appendFileSync(
    file,
    `${JSON.stringify({ type: "event_msg", payload: { type: "token_count", info: { total_token_usage: total } } })}\n`,
  );
}
const SESSION = { type: "session", id: ID, model: null } as const;

test("the session file tells what the output does not, and each growth is told once", () => {
  live.begin(null);
  expect(live.total()).toBeUndefined();
  written(100, 1);
  live.note(SESSION);
  expect(live.total()).toEqual(usage(100, 1));
  expect(grown).toBe(1);
  live.note({ type: "message", text: "…" });
  expect(grown).toBe(1);
});

test("what a resumed session had used before is not the attempt's", () => {
  written(100, 1);
  live.begin(ID);
  expect(live.before()).toEqual(usage(100, 1));
  written(150, 3);
  live.note(SESSION);
  expect(live.total()).toEqual(usage(50, 2));
  live.end(usage(50, 2), true);
  // A second prompt in the same session, such as the repair of a verdict, adds up.
  live.begin(ID);
  written(160, 4);
  live.note(SESSION);
  expect(live.total()).toEqual(usage(60, 3));
});

test("output and file are two reports of the same work; it never shrinks", () => {
  live.begin(null);
  live.note(SESSION);
  live.note({ type: "usage", usage: usage(10, 50) });
  written(100, 1);
  live.end(null, false);
  expect(live.total()).toEqual(usage(100, 50));
  truncateSync(file, 0);
  live.begin(ID);
  live.note({ type: "usage", usage: usage(5, 5) });
  expect(live.total()).toEqual(usage(105, 55));
});

test("the program's own last word counts for dollars; cut off, the larger number does", () => {
  live.begin(null);
  live.note({ type: "usage", usage: usage(10, 1, 2) });
  live.end(usage(10, 1, 1.5), true);
  expect(live.total()?.usd).toBe(1.5);
  live.begin(null);
  live.note({ type: "usage", usage: usage(10, 1, 2) });
  live.end(usage(10, 1, null), false);
  expect(live.total()?.usd).toBe(3.5);
});

test("an answer of the model counts as told until its tools have returned; one of an earlier prompt never does", () => {
  const answered = (id: string, input: number): void => {
    const line = { type: "token_usage_record", payload: { response_id: id, usage: { input_tokens: input } } };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  answered("r-1", 100);
  live.begin(ID);
  expect(live.answer()).toBeNull();
  answered("r-2", 200);
  expect(live.answer()?.inputTokens).toBe(200);
  live.note({ type: "tool.returned", id: "t-1", ok: true, output: "" });
  expect(live.answer()).toBeNull();
  answered("r-3", 300);
  expect(live.answer()?.inputTokens).toBe(300);
});

test("codex' file also says how far the windows of the plan are used", () => {
  live.begin(null);
  const primary = { used_percent: 92.4, window_minutes: 300, resets_at: 1_790_000_000 };
  const secondary = { used_percent: 40, window_minutes: 10_080 };
  const payload = { type: "token_count", info: null, rate_limits: { primary, secondary, plan_type: "plus" } };
  writeFileSync(file, `${JSON.stringify({ type: "event_msg", payload })}\n`);
  live.note(SESSION);
  expect(limits).toEqual([
    { window: "5-hour", share: 0.924, resetsAt: new Date(1_790_000_000_000).toISOString() },
    { window: "7-day", share: 0.4, resetsAt: null },
  ]);
});
