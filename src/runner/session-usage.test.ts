import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { costOf } from "./claude/prices.ts";
import { openJournal } from "./session-journal.ts";
import { openSessionUsage, sessionUsage } from "./session-usage.ts";

// Recorded from the real programs in the middle of an attempt: three answers of 10,000 tokens in (4,000 of them cached) and 500 out.
const RECORDED = join(import.meta.dirname, "../../test/fixtures/sessions");
const SESSIONS = {
  claude: { id: "04c965ec-62b2-484b-ab0a-9459ed8bbdc7", cwd: "/work-of/claude/workspace-1" },
  codex: { id: "01a1ebc1-94f7-70d1-8d3e-6c632ce6b1a3", cwd: "/work-of/codex" },
  gemini: { id: "717bc3de-c811-43aa-b8de-debfd859cddc", cwd: "/work-of/gemini/workspace-1" },
  opencode: { id: "ses_e143e2fbaffelZqBvEkFfD3wo4", cwd: "/work-of/opencode" },
} as const;
const THREE = { inputTokens: 30_000, outputTokens: 1_500, cachedTokens: 12_000 };

const IDLE = new Int32Array(new SharedArrayBuffer(4));

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-sessions-")));
  for (const vendor of readdirSync(RECORDED)) cpSync(join(RECORDED, vendor), home, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

type Vendor = keyof typeof SESSIONS;
const usageOf = (vendor: Vendor, env: object = { HOME: home }) =>
  sessionUsage(vendor, SESSIONS[vendor].id, { env: { ...env }, cwd: SESSIONS[vendor].cwd });

function fileOf(vendor: "claude" | "codex" | "gemini"): string {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  return join(home, names.find((name) => name.startsWith(`.${vendor}`) && name.endsWith(".jsonl")) ?? "");
}

test("codex: the totals of its conversation, although its output tells nothing before the end", () => {
  expect(usageOf("codex")).toEqual({ usd: null, ...THREE });
  expect(usageOf("codex", { CODEX_HOME: join(home, ".codex") })).toEqual({ usd: null, ...THREE });
});

test("codex: a resumed conversation forgets the answer whose tools were cut off; the sum does not. Older versions have only totals", () => {
  const usage = { input_tokens: 1_000, cached_input_tokens: 0, output_tokens: 10 };
  const total = { input_tokens: 21_000, cached_input_tokens: 8_000, output_tokens: 1_010 };
  const counted = { type: "event_msg", payload: { type: "token_count", info: { total_token_usage: total } } };
  const answer = { type: "token_usage_record", payload: { response_id: "resp_new", usage, thread_token_usage: total } };
  appendFileSync(fileOf("codex"), `${JSON.stringify(answer)}\n${JSON.stringify(counted)}\n`);
  expect(usageOf("codex")).toMatchObject({ inputTokens: 31_000, outputTokens: 1_510 });
  writeFileSync(fileOf("codex"), `${JSON.stringify(counted)}\n`);
  expect(usageOf("codex")).toMatchObject({ inputTokens: 21_000, outputTokens: 1_010, cachedTokens: 8_000 });
});

test("gemini: each answer once, also one that is written again with its tools", () => {
  expect(usageOf("gemini")).toEqual({ usd: null, ...THREE });
});

test("claude: each answer once, with its final tokens, and dollars by the list prices", () => {
  const usd = (3 * (6_000 * 3 + 4_000 * 0.3 + 500 * 15)) / 1e6;
  expect(usageOf("claude")).toEqual({ usd: expect.closeTo(usd, 9), ...THREE });
});

test("claude: sub-agents count; an answer of a model without a known price makes the dollars unknown", () => {
  const subagents = join(fileOf("claude").replace(/\.jsonl$/u, ""), "subagents");
  mkdirSync(subagents, { recursive: true });
  const usage = { input_tokens: 100, cache_read_input_tokens: 0, output_tokens: 7 };
  const line = { type: "assistant", isSidechain: true, message: { id: "msg_sub", model: "another", usage } };
  writeFileSync(join(subagents, "agent-1.jsonl"), `${JSON.stringify(line)}\n`);
  expect(usageOf("claude")).toEqual({ usd: null, inputTokens: 30_100, outputTokens: 1_507, cachedTokens: 12_000 });
});

test("claude: a session that was continued from another folder is found by its id", () => {
  expect(sessionUsage("claude", SESSIONS.claude.id, { env: { HOME: home }, cwd: "/elsewhere" })).toMatchObject(THREE);
});

test("prices: what is written to the cache costs more, for an hour most; dated names are the same model", () => {
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_creation_input_tokens: 2_000_000,
    cache_creation: { ephemeral_1h_input_tokens: 1_000_000 },
  };
  expect(costOf("claude-sonnet-4-5-20250929", usage)).toBeCloseTo(3 * 1.25 + 3 * 2, 9);
  expect(costOf("claude-unheard-of", usage)).toBeNull();
  expect(costOf(null, usage)).toBeNull();
  expect(costOf("claude-sonnet-4-5", {})).toBeNull();
});

test("opencode: the totals of a session and of the sessions of its sub-agents", () => {
  const folder = join(home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, "opencode.db"));
  database.exec(`PRAGMA journal_mode = wal;
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, cost real DEFAULT 0 NOT NULL,
      tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
      tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
      tokens_cache_write integer DEFAULT 0 NOT NULL)`);
  const add = database.prepare("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  expect(usageOf("opencode")).toBeNull();
  add.run(SESSIONS.opencode.id, null, 0.0534, 12_000, 900, 100, 8_000, 0);
  add.run("ses_child000000", SESSIONS.opencode.id, 0.01, 1_000, 10, 0, 0, 5);
  add.run("ses_other000000", null, 99, 99_000, 99, 0, 0, 0);
  expect(usageOf("opencode")).toEqual({
    usd: 0.0634,
    inputTokens: 21_005,
    outputTokens: 1_010,
    cachedTokens: 8_000,
  });
  // A writer at work does not hold up the reader.
  database.exec("BEGIN IMMEDIATE");
  add.run("ses_late0000000", SESSIONS.opencode.id, 1, 1, 1, 0, 0, 0);
  expect(usageOf("opencode")?.usd).toBe(0.0634);
  database.exec("COMMIT");
  database.close();
  expect(usageOf("opencode")?.usd).toBe(1.0634);
});

test("each look reads only what is new, and a line counts when it is whole", () => {
  const look = openSessionUsage("codex", SESSIONS.codex.id, { env: { HOME: home }, cwd: "/" });
  expect(look()).toMatchObject(THREE);
  const usage = { input_tokens: 10_000, cached_input_tokens: 4_000, output_tokens: 500 };
  const line = JSON.stringify({ type: "token_usage_record", payload: { response_id: "resp_4", usage } });
  appendFileSync(fileOf("codex"), line.slice(0, 50));
  expect(look()).toMatchObject(THREE);
  appendFileSync(fileOf("codex"), `${line.slice(50)}\n`);
  expect(look()).toEqual({ usd: null, inputTokens: 40_000, outputTokens: 2_000, cachedTokens: 16_000 });
  // Cut off by the agent: read anew. Whoever meters the attempt remembers the larger number.
  truncateSync(fileOf("codex"), 0);
  expect(look()).toBeNull();
});

test.each(["claude", "codex", "gemini"] as const)("%s: links and second names are not followed", (vendor) => {
  const file = fileOf(vendor);
  const aside = join(home, "aside.jsonl");
  renameSync(file, aside);
  expect(usageOf(vendor)).toBeNull();
  symlinkSync(aside, file);
  expect(usageOf(vendor)).toBeNull();
  rmSync(file);
  linkSync(aside, file);
  expect(usageOf(vendor)).toBeNull();
  rmSync(file);
  renameSync(aside, file);
  const folder = dirname(file);
  renameSync(folder, join(home, "folder"));
  symlinkSync(join(home, "folder"), folder);
  expect(usageOf(vendor)).toBeNull();
});

describe("in a sandbox, whose home the agent inside can fill with anything", () => {
  const inside = (vendor: Vendor, logins: readonly string[] = []) =>
    sessionUsage(vendor, SESSIONS[vendor].id, {
      env: { HOME: "/home/of-the-user" },
      cwd: SESSIONS[vendor].cwd,
      confined: { home, logins },
    });

  test.each(["claude", "codex", "gemini"] as const)(
    "%s: its session is found in the sandbox's own folders",
    (vendor) => {
      expect(inside(vendor)).toMatchObject(THREE);
      // A program that keeps its files outside of its home has a folder for them.
      renameSync(join(home, `.${vendor}`), join(home, "login-0"));
      expect(inside(vendor)).toBeNull();
      expect(inside(vendor, [join(home, "missing"), join(home, "login-0")])).toMatchObject(THREE);
    },
  );

  test.each(["claude", "codex", "gemini"] as const)("%s: nothing outside is read, and nothing blocks", (vendor) => {
    const elsewhere = mkdtempSync(join(tmpdir(), "passrail-elsewhere-"));
    renameSync(join(home, `.${vendor}`), join(elsewhere, "own"));
    symlinkSync(join(elsewhere, "own"), join(home, `.${vendor}`));
    expect(inside(vendor)).toBeNull();
    rmSync(join(home, `.${vendor}`));
    renameSync(join(elsewhere, "own"), join(home, `.${vendor}`));
    rmSync(elsewhere, { recursive: true });
    const file = fileOf(vendor);
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(inside(vendor)).toBeNull();
    rmSync(file);
    writeFileSync(file, "");
    // Sparse, and larger than any session.
    truncateSync(file, 8 * 1024 ** 4);
    expect(inside(vendor)).toBeNull();
    rmSync(dirname(file), { recursive: true });
    execFileSync("mkfifo", [dirname(file)]);
    expect(inside(vendor)).toBeNull();
  });

  test("opencode: its database is not opened", () => expect(inside("opencode")).toBeNull());
});

test("opencode: a view that counts for ever is not asked", () => {
  const folder = join(home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, "opencode.db"));
  database.exec(`CREATE VIEW session AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
    SELECT id, NULL AS parent_id, 0 AS cost, 0 AS tokens_input, 0 AS tokens_output, 0 AS tokens_reasoning,
      0 AS tokens_cache_read, 0 AS tokens_cache_write FROM n`);
  database.close();
  expect(usageOf("opencode")).toBeNull();
});

test("a look at a file that an agent has filled ends soon, and the next one goes on", () => {
  const filled = join(home, "lines.jsonl");
  const line = `${JSON.stringify({ type: "token_usage_record", payload: { usage: { input_tokens: 1 } } })}\n`;
  writeFileSync(filled, line.repeat(40_000));
  const journal = openJournal(home, filled);
  let seen = 0;
  const slowly = { line: () => void ((seen += 1), Atomics.wait(IDLE, 0, 0, 0.1)), anew: () => {} };
  journal.read(slowly);
  const first = seen;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(40_000);
  journal.read(slowly);
  expect(seen).toBeGreaterThan(first);
});

test("the user's own folder may be behind a link", () => {
  renameSync(join(home, ".codex"), join(home, "dotfiles"));
  symlinkSync(join(home, "dotfiles"), join(home, ".codex"));
  expect(usageOf("codex")).toMatchObject(THREE);
});

test("odd lines, absurd numbers and ids that are paths tell nothing", () => {
  const absurd = { input_tokens: 1e30, output_tokens: -1 };
  const odd = ["{", "null", "[]", JSON.stringify({ type: "token_usage_record", payload: null })];
  const line = JSON.stringify({ type: "token_usage_record", payload: { usage: absurd } });
  writeFileSync(fileOf("codex"), `${[...odd, line].join("\n")}\n`);
  expect(usageOf("codex")).toEqual({ usd: null, inputTokens: null, outputTokens: null, cachedTokens: null });
  for (const id of ["../../etc/passwd", "", "a/b", "x".repeat(200)])
    for (const vendor of ["claude", "codex", "gemini", "opencode"] as const)
      expect(sessionUsage(vendor, id, { env: { HOME: home }, cwd: "/" })).toBeNull();
  expect(sessionUsage("command", SESSIONS.codex.id, { env: { HOME: home }, cwd: "/" })).toBeNull();
});

test("a line without an end is not kept", () => {
  const file = fileOf("codex");
  appendFileSync(file, `{"x":"${"y".repeat(9 * 1024 * 1024)}"`);
  const look = openSessionUsage("codex", SESSIONS.codex.id, { env: { HOME: home }, cwd: "/" });
  expect(look()).toMatchObject(THREE);
  const usage = { input_tokens: 1, output_tokens: 1 };
  appendFileSync(
    file,
    `}\n${JSON.stringify({ type: "token_usage_record", payload: { response_id: "more", usage } })}\n`,
  );
  expect(look()).toMatchObject({ inputTokens: 30_001 });
});
