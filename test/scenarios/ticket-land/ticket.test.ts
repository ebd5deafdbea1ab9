// Source 004, the end of a ticket: real engine, real repositories, scripted agents. Done means that the work was seen where it belongs.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { landedRecord } from "../../../src/core/ticket/landed.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, type Workbench, wordsOf } from "../../harness/workbench.ts";
import { type FakeGitHub, openFakeGitHub, TOKEN } from "./fake-github.ts";
import { newRepositories, type Repositories } from "./repositories.ts";

let repositories: Repositories;
let fake: FakeGitHub | undefined;
let bench: Workbench;
afterEach(async () => {
  await bench.close();
  await fake?.close();
  fake = undefined;
  repositories.close();
});

const OK = { via: "text", text: "done" };
const WORKS = { ...OK, write: { "made.txt": "made" }, commit: true };
const ALL: Script = { "*": [OK], implement: [WORKS] };

async function open(kind: "local" | "remote" | "gh" | "rest", merge: JsonObject = {}): Promise<void> {
  repositories = newRepositories({ remote: kind !== "local" });
  if (kind === "gh" || kind === "rest") fake = await openFakeGitHub(repositories, kind);
  const { dir, project } = repositories;
  const environment = fake?.environment ?? { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_GLOBAL: "/dev/null" };
  const settings = () => ({ merge: { poll: "100ms", ...merge } });
  bench = await openWorkbench({ place: { dir, project, environment }, settings });
}

const start = (ticket: JsonObject, { script = ALL, mode = "auto", subject = "AGI-7", title = "Do it" } = {}) =>
  bench.run("ticket", script, {
    subject,
    title,
    facts: { ticket: { repo: "org/app", status: "Needs Implement", ...ticket }, config: { merge_mode: mode } },
  });
const landed = async (run: Run) => landedRecord(await bench.passrail.store.attempts(run.id));
const word = (run: Run, wanted: string) =>
  until(`${run.subject.id} becomes ${wanted}`, async () => {
    const now = await bench.load(run.id);
    return now.word === wanted ? now : undefined;
  });
const main = (): string => repositories.there("rev-parse", "refs/heads/main");

describe("R-004-46, R-004-50: how work leaves, by mode and by whether others build on it", () => {
  const rows = [
    ["auto", true, "pr"],
    ["auto", false, "push"],
    ["pr", true, "pr"],
    ["pr", false, "pr"],
    ["merge", true, "land"],
    ["merge", false, "land"],
  ] as const;

  test.each(rows)("mode %s, terminal %j: %s, on a bare remote and GitHub by gh", async (mode, terminal, how) => {
    await open("gh");
    const before = main();
    const run = await start({ terminal }, { mode });
    const record = await landed(run);
    expect(record).toMatchObject({ how, branch: "feat/AGI-7", target: "main" });
    const there = (branch: string): string =>
      repositories.there("for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`);
    if (how === "pr") {
      expect(run).toMatchObject({ status: "running", word: "Awaiting Merge" });
      expect(record?.pr).toEqual({ number: 1, url: "https://github.com/org/app/pull/1" });
      expect(fake?.pulls).toMatchObject([{ branch: "feat/AGI-7", base: "main", title: "AGI-7: Do it" }]);
      expect(there("feat/AGI-7")).toBe(record?.commit);
      expect(main()).toBe(before);
    } else {
      expect(run).toMatchObject({ status: "completed", word: "Done" });
      expect(fake?.pulls).toEqual([]);
      expect(there(how === "push" ? "feat/AGI-7" : "main")).toBe(record?.commit);
      if (how === "push") expect(main()).toBe(before);
    }
    expect(bench.errors).toEqual([]);
  });

  test.each(["local", "remote"] as const)(
    "without pull requests (%s) the branch waits until the target holds it",
    async (kind) => {
      await open(kind);
      const run = await start({ terminal: true });
      expect(run).toMatchObject({ status: "running", word: "Awaiting Merge" });
      const record = await landed(run);
      const made = repositories.there(
        "commit-tree",
        `${record?.commit}^{tree}`,
        "-p",
        main(),
        "-p",
        `${record?.commit}`,
        "-m",
        "m",
      );
      repositories.there("update-ref", "refs/heads/main", made);
      expect(await word(run, "Done")).toMatchObject({ status: "completed" });
    },
  );
});

test("R-004-43: whether others build on a ticket is asked when it lands; R-004-50: its file gets the address and the words", async () => {
  await open("gh");
  const folder = join(repositories.project, "feature_requests", "FR-1");
  mkdirSync(folder, { recursive: true });
  const ticket = (id: string, more: string) =>
    writeFileSync(
      join(folder, `${id}.md`),
      `---\nid: ${id}\ntitle: t\nrepo: org/app\nstatus: Needs Implement\n${more}---\nbody\n`,
    );
  ticket("AGI-1", "");
  ticket("AGI-2", "dependsOn: [AGI-1]\n");
  const facts = (id: string) => ({ file: `feature_requests/FR-1/${id}.md` });
  const first = await start(facts("AGI-1"), { subject: "AGI-1" });
  expect(first).toMatchObject({ status: "completed", word: "Done" });
  expect(await landed(first)).toMatchObject({ how: "push" });
  const last = await start(facts("AGI-2"), { subject: "AGI-2" });
  expect(last).toMatchObject({ word: "Awaiting Merge" });
  const file = (id: string): string => readFileSync(join(folder, `${id}.md`), "utf8");
  await until("both files say it", () =>
    file("AGI-1").includes("status: Done") && file("AGI-2").includes("status: Awaiting Merge") ? true : undefined,
  );
  expect(file("AGI-2")).toMatch(/^pr_url: "?https:\/\/github\.com\/org\/app\/pull\/1"?$/mu);
});

describe("R-004-51: what becomes of a pull request", () => {
  test.each(["gh", "rest"] as const)(
    "by %s: a merge that is seen ends the ticket, also after a restart",
    async (kind) => {
      await open(kind);
      const run = await start({ terminal: true });
      await bench.restart();
      const made = fake?.merge(1, "squash");
      const done = await word(run, "Done");
      expect(done).toMatchObject({ status: "completed" });
      expect(await landed(done)).toMatchObject({ how: "merged", commit: made });
      // Others can build on what came in: it is in the project's own repository.
      expect(repositories.git("cat-file", "-t", made ?? "")).toBe("commit");
      expect(JSON.stringify(await bench.events(run.id))).not.toContain(TOKEN);
    },
  );

  test("what CI found goes to the agent with the end of the log, the same request is updated, and then it is merged", async () => {
    await open("gh");
    const log = join(repositories.dir, "prompts.jsonl");
    const script = {
      ...ALL,
      implement: [WORKS, { ...OK, write: { "mended.txt": "x" }, commit: true, log }],
    };
    const run = await start({ terminal: true }, { script });
    const head = (await landed(run))?.commit ?? "";
    if (fake === undefined) throw new Error("no GitHub");
    fake.logs.set(7, "npm test\nFAIL a.test.ts: expected 2\n##[error]exit code 1\n");
    fake.checks = [
      { id: 7, sha: head, name: "test", status: "completed", conclusion: "failure", app: { slug: "github-actions" } },
    ];
    const again = await until("the request is at another commit", async () => {
      const now = await landed(run);
      return now !== undefined && now.commit !== head ? now : undefined;
    });
    await word(run, "Awaiting Merge");
    expect(again.pr?.number).toBe(1);
    expect(fake.pulls).toHaveLength(1);
    expect((JSON.parse(readFileSync(log, "utf8")) as { prompt: string }).prompt).toContain(
      "FAIL a.test.ts: expected 2",
    );
    expect((await bench.load(run.id)).counters).toMatchObject({ ci: { loops: 1 } });
    fake.merge(1, "merge");
    await word(run, "Done");
  });

  test("a request that is closed waits for a person's decision, who can have it opened again", async () => {
    await open("gh");
    const run = await start({ terminal: true });
    Object.assign(fake?.pulls[0] ?? {}, { state: "closed" });
    const waiting = await word(run, "Needs Human Decision");
    await bench.answer(waiting, "choice", "propose-again");
    await word(run, "Awaiting Merge");
    expect(fake?.pulls.map(({ state }) => state)).toEqual(["closed", "open"]);
  });
});

describe("landing in the target", () => {
  test("work comes on top of what landed meanwhile; what is recorded is what the target holds", async () => {
    await open("remote");
    const theirs = repositories.somebody("main", { "theirs.txt": "x" });
    const run = await start({}, { mode: "merge" });
    expect(run).toMatchObject({ status: "completed", word: "Done" });
    const record = await landed(run);
    expect(record?.commit).toBe(main());
    expect(record?.approved).not.toBe(record?.commit);
    expect(repositories.there("rev-parse", "main~1")).toBe(theirs);
    expect(repositories.git("cat-file", "-t", record?.commit ?? "")).toBe("commit");
  });

  test("a check that fails on the merged tree sends the work back with its output; what passes then lands", async () => {
    const check = [
      process.execPath,
      "-e",
      "const ok = require('fs').existsSync('mended.txt'); if (!ok) console.log('mended.txt is missing'); process.exit(ok ? 0 : 1)",
    ];
    await open("remote", { checks: [check] });
    const log = join(repositories.dir, "prompts.jsonl");
    const script = { ...ALL, implement: [WORKS, { ...OK, write: { "mended.txt": "x" }, commit: true, log }] };
    const run = await start({}, { mode: "merge", script });
    expect(run).toMatchObject({ status: "completed", word: "Done" });
    expect((JSON.parse(readFileSync(log, "utf8")) as { prompt: string }).prompt).toContain("mended.txt is missing");
    const round = ["Needs Implement", "Implement In Progress", "Needs Validate", "Validate In Progress"];
    expect(wordsOf(await bench.events(run.id))).toEqual(["Backlog", ...round, ...round, "Done"]);
  });

  test("a conflict is a person's: the files are named, nothing is landed; a branch that was changed since is not landed either", async () => {
    await open("remote");
    const theirs = repositories.somebody("main", { "made.txt": "theirs" });
    const run = await start({}, { mode: "merge" });
    expect(run).toMatchObject({ status: "waiting", word: "Needs Human Review" });
    expect(JSON.stringify(run)).toContain("made.txt");
    expect(main()).toBe(theirs);
    repositories.commit("feat/AGI-7", { "made.txt": "theirs" });
    await bench.answer(run, "choice", "again");
    const moved = await bench.load(run.id);
    expect(moved).toMatchObject({ status: "waiting", word: "Needs Human Review" });
    expect(JSON.stringify(await bench.events(run.id))).toContain("branch_moved");
    // Looked at again, it is approved as it is now.
    await bench.answer(moved, "choice", "validate");
    expect(await bench.load(run.id)).toMatchObject({ status: "waiting", word: "Needs Human Review" });
    expect(main()).toBe(theirs);
  });

  test("a remote that refuses is told; nothing counts as done", async () => {
    await open("remote");
    const hook = join(repositories.bare, "hooks", "pre-receive");
    mkdirSync(join(repositories.bare, "hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho protected branch >&2\nexit 1\n", { mode: 0o755 });
    const run = await start({}, { mode: "merge" });
    expect(run).toMatchObject({ status: "waiting", word: "Needs Human Review" });
    expect(JSON.stringify(run)).toContain("protected branch");
  });
});

test("S08: what tickets and agents say cannot forge anything in a pull request", async () => {
  await open("rest");
  const hostile =
    "closes #1 @org/everyone\n## Approved\n```\n| x | y |\n<!-- --> fixes https://github.com/org/app/issues/2";
  const script: Script = {
    "*": [OK],
    implement: [WORKS],
    validate: [{ via: "text", text: `${hostile}\n\`\`\`\`\nGH-3 ${TOKEN}` }],
  };
  await start({ terminal: true }, { script, title: hostile });
  const { title = "", body = "" } = fake?.pulls[0] ?? {};
  expect(title).not.toMatch(/\n|#1|@org/u);
  for (const text of [title, body]) {
    expect(text).not.toMatch(/closes #[0-9]|@org|https:\/\/github\.com\/org\/app\/issues|GH-3/u);
    expect(text).not.toContain(TOKEN);
  }
  // The quotation has a fence that nothing in it can close.
  const fence = /^(`{5,})text$/mu.exec(body)?.[1];
  expect(fence).toBeDefined();
  expect(body.split("\n").filter((line) => line.startsWith("## "))).toHaveLength(1);
  expect(body.indexOf("\n## Approved")).toBeGreaterThan(body.indexOf(`${fence}text`));
});
