// `passrail spec` as people and scripts use it: real processes, a scripted agent, ticket files on disk.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { type Bench, CLI, openBench, until } from "../cli/bench.ts";
import { startDaemon } from "../daemon/running.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const says = (text: string) => ({ via: "text", text });
const asks = (...questions: readonly string[]) =>
  says(`QUESTIONS:\n${questions.map((text, at) => `${at + 1}. ${text}`).join("\n")}`);
const TWO = says(`TICKETS:
- title: "Store users"
  description: |
    Goal: users are kept.
  repo: "example/api"
  dependsOn: []
- title: "REST routes for users"
  description: |
    Goal: list, create, change and remove users over HTTP.
  repo: "example/api"
  dependsOn: ["#1"]
`);
/** Every attempt by its number: the loop does not count calls. */
const inOrder = (...outcomes: readonly unknown[]) =>
  Object.fromEntries(outcomes.map((outcome, at) => [`spec#${at + 1}`, [outcome]]));
const spec = (words: readonly string[], script: Readonly<Record<string, unknown>>, ...more: readonly string[]) =>
  bench.passrail(["spec", ...words, "--agent", `spec=${bench.player(script)}`, ...more]);
const front = (path: string) =>
  parse(readFileSync(join(bench.project, path), "utf8").split("---\n")[1] ?? "") as Record<string, unknown>;
const prompt = async (attempt: number): Promise<string> =>
  (await bench.passrail(["runs", "show", "1", "--attempt", `spec#${attempt}`, "--prompt"])).out;
const hasTickets = (): boolean => existsSync(join(bench.project, "feature_requests"));

test('R-004-65, R-004-20: spec "Build a REST API for user management" puts tickets on disk and says where', async () => {
  const ended = await spec(["Build a REST API for user management"], inOrder(TWO));
  expect(ended).toMatchObject({
    code: 0,
    out: "Created 2 ticket(s):\n  - feature_requests/FR-1/AGI-1.md\n  - feature_requests/FR-1/AGI-2.md\n",
  });
  expect(front("feature_requests/FR-1/AGI-1.md")).toMatchObject({
    id: "AGI-1",
    title: "Store users",
    repo: "example/api",
    status: "Backlog",
    dependsOn: [],
  });
  expect(front("feature_requests/FR-1/AGI-2.md")).toMatchObject({ dependsOn: ["AGI-1"] });
  expect(await prompt(1)).toContain("Build a REST API for user management");
});

test("R-004-20: words are joined by spaces; without any there is the usage on standard error and exit 1", async () => {
  const ended = await spec(["Build", "a", "shop"], inOrder(TWO), "--json");
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.out)).toMatchObject({
    status: "completed",
    subject: { title: "Build a shop" },
    tickets: ["feature_requests/FR-1/AGI-1.md", "feature_requests/FR-1/AGI-2.md"],
  });
  for (const words of [[], ["", "  "]]) {
    const none = await bench.passrail(["spec", ...words]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain('Usage: passrail spec "<request>"');
  }
});

test("R-004-25: without a terminal questions go to the inbox, and answering there writes the tickets", async () => {
  const asked = await spec(["A shop"], inOrder(asks("Which database?", "Who signs in?"), TWO));
  expect(asked).toMatchObject({ code: 3, out: "" });
  expect(asked.err).toContain("Which database?");
  expect(asked.err).toContain("passrail ask answer 1.1");
  expect(hasTickets()).toBe(false);
  const answered = await bench.passrail(["ask", "answer", "1.1", "SQLite; everybody"]);
  expect(answered.code).toBe(0);
  expect(readdirSync(join(bench.project, "feature_requests", "FR-1")).filter((name) => name.endsWith(".md"))).toEqual([
    "AGI-1.md",
    "AGI-2.md",
  ]);
});

test.each([
  ["one map for all rounds", "answers.yaml", "database: SQLite\nsigns in: everybody\nport: 8080\n"],
  ["a list per round", "answers.json", '[["SQLite", "everybody"], [8080]]'],
])("R-004-21, R-004-25: --answers holds %s", async (_, name, text) => {
  writeFileSync(join(bench.project, name), text);
  const script = inOrder(asks("Which database?", "Who signs in?"), asks("Which port?"), TWO);
  const ended = await spec(["A shop"], script, "--answers", name);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Created 2 ticket(s):") });
  expect(await prompt(2)).toMatch(/Which database\?[\s\S]*1\. SQLite\n2\. everybody/u);
  expect(await prompt(3)).toMatch(/Which port\?[\s\S]*8080/u);
});

test("R-004-25: too few answers leave the round in the inbox; a file that says nothing is refused before anything starts", async () => {
  writeFileSync(join(bench.project, "few.yaml"), "database: SQLite\n");
  const few = await spec(["A shop"], inOrder(asks("Which database?", "Who signs in?"), TWO), "--answers", "few.yaml");
  expect(few.code).toBe(3);
  expect(few.err).toContain("has no answer to question 2");
  for (const [name, text] of [
    ["bad.yaml", "- [a\n"],
    ["bad.json", "{"],
    ["number.yaml", "12: [a]\n"],
    ["none.yaml", undefined],
  ] as const) {
    if (text !== undefined) writeFileSync(join(bench.project, name), text);
    const refused = await spec(["Another"], inOrder(TWO), "--answers", name);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(name);
  }
  const list = await bench.passrail(["runs", "list", "--json"]);
  expect((JSON.parse(list.out) as { runs: unknown[] }).runs).toHaveLength(1);
});

test("R-004-22: three rounds, then one last call that must write; one that still asks is an error with exit 1 and no file", async () => {
  writeFileSync(join(bench.project, "a.json"), '[["1"], ["2"], ["3"], ["4"]]');
  const ended = await spec(["A shop"], { spec: [asks("And now?")] }, "--answers", "a.json");
  expect(ended).toMatchObject({ code: 1, out: "" });
  expect(ended.err).toContain("No ticket was written");
  expect(hasTickets()).toBe(false);
  expect(ended.err).toContain("And now?");
  expect(await prompt(4)).toContain("No more questions");
  expect((await bench.passrail(["runs", "show", "1", "--attempt", "spec#5", "--prompt"])).code).not.toBe(0);
});

test("R-004-23: an invalid list is asked for once more with the reason, then nothing is written and the reason is told", async () => {
  const circle = says('TICKETS:\n- title: a\n  dependsOn: ["#2"]\n- title: b\n  dependsOn: ["#1"]\n');
  const ended = await spec(["A shop"], inOrder(circle));
  expect(ended.code).toBe(1);
  expect(ended.err).toContain("#1, #2 wait for each other");
  expect(hasTickets()).toBe(false);
  const list = await bench.passrail(["runs", "list", "--json"]);
  const [run] = (JSON.parse(list.out) as { runs: { id: string }[] }).runs;
  const repair = readFileSync(join(bench.home, "runs", run?.id ?? "", "spec-1", "repair-prompt.md"), "utf8");
  expect(repair).toContain("#1, #2 wait for each other");
  const again = await spec(["A shop"], inOrder({ ...circle, repair: TWO }));
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("FR-1/AGI-2.md") });
});

test("R-004-30: a request with variants becomes tickets of one group with their hints", async () => {
  const variants = says(`TICKETS:
- { title: "OAuth", description: "a", repo: "example/web", group: "login-auth", variantHint: "Variant 1 of 2: OAuth" }
- { title: "Email", description: "b", repo: "example/web", group: "login-auth", variantHint: "Variant 2 of 2: Email" }
`);
  expect(await spec(["A login page with OAuth AND email"], inOrder(variants))).toMatchObject({ code: 0 });
  expect(front("feature_requests/FR-1/AGI-1.md")).toMatchObject({
    group: "login-auth",
    variantHint: "Variant 1 of 2: OAuth",
    dependsOn: [],
  });
  expect(front("feature_requests/FR-1/AGI-2.md")).toMatchObject({
    group: "login-auth",
    variantHint: "Variant 2 of 2: Email",
  });
});

test("R-004-27: processes that take in requests at once never share a number", async () => {
  const script = bench.player(inOrder(TWO));
  const homes = [1, 2, 3].map((each) => join(bench.dir, `home-${each}`));
  const ended = await Promise.all(
    homes.map((home) => bench.passrail(["spec", "Build it", "--agent", `spec=${script}`, "--home", home])),
  );
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const paths = ended.flatMap(({ out }) => out.split("\n").filter((line) => line.startsWith("  - ")));
  expect(new Set(paths.map((path) => path.split("/").at(-1)))).toEqual(
    new Set([1, 2, 3, 4, 5, 6].map((number) => `AGI-${number}.md`)),
  );
  expect(new Set(paths.map((path) => path.split("/").at(-2))).size).toBe(3);
});

const hasScript = process.platform === "linux" && existsSync("/usr/bin/script");

test.runIf(hasScript)("R-004-21: at a terminal the questions are shown and answered line by line", async () => {
  const player = bench.player(inOrder(asks("Which database?", "Who signs in?"), TWO));
  const agent = `spec=${player}`;
  const terminal = openTerminal(["spec", "A shop", "--agent", agent]);
  await terminal.sees("1. Which database?");
  terminal.types("SQLite\r");
  await terminal.sees("2. Who signs in?");
  terminal.types("\r");
  const text = await terminal.ended;
  expect(text).toContain("Created 2 ticket(s):");
  expect(await prompt(2)).toMatch(/1\. SQLite\n2\. no wish of mine/u);
});

test.runIf(hasScript)("R-004-25: Ctrl-C at a question leaves a run that can be answered later", async () => {
  const terminal = openTerminal(["spec", "A shop", "--agent", `spec=${bench.player(inOrder(asks("Which?"), TWO))}`]);
  await terminal.sees("1. Which?");
  terminal.types("\u0003");
  expect(await terminal.ended).toContain("wait in the inbox");
  expect(await bench.passrail(["ask", "answer", "1.1", "this one"])).toMatchObject({ code: 0 });
  expect(hasTickets()).toBe(true);
});

test("beside a daemon it works the same: the daemon performs", async () => {
  const running = await startDaemon();
  try {
    const player = running.player(inOrder(asks("Which?"), TWO));
    writeFileSync(join(running.project, "a.yaml"), "- this one\n");
    const ended = await running.passrail(["spec", "A shop", "--agent", `spec=${player}`, "--answers", "a.yaml"]);
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Created 2 ticket(s):") });
    expect(existsSync(join(running.project, "feature_requests/FR-1/AGI-2.md"))).toBe(true);
  } finally {
    await running.close();
  }
});

/** The program in a terminal of its own. */
function openTerminal(args: readonly string[]) {
  const quoted = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const env = { ...process.env, PASSRAIL_HOME: bench.home, XDG_CONFIG_HOME: join(bench.dir, "config"), TERM: "xterm" };
  const child = spawn("/usr/bin/script", ["-qec", quoted, "/dev/null"], { cwd: bench.project, env });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(text)));
  return {
    ended,
    sees: (words: string) => until(() => text.includes(words), words, 60_000),
    types: (keys: string) => void child.stdin.write(keys),
  };
}
