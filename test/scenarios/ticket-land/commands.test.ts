// What people do about merges: `done`, `merge-queue`, `undo`, a webhook; and what the watcher does when a forge is out of reach.

import { afterEach, expect, test } from "vitest";
import { done, mergeQueue } from "../../../src/cli/commands/merge/done.ts";
import { undo, undoList } from "../../../src/cli/commands/merge/undo.ts";
import { CliError } from "../../../src/cli/errors.ts";
import type { Io } from "../../../src/cli/terminal/io.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { landedRecord } from "../../../src/core/ticket/landed.ts";
import { carryOut } from "../../../src/http/webhooks/carry-out.ts";
import { standardSource } from "../../../src/http/webhooks/source.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { type FakeGitHub, openFakeGitHub } from "./fake-github.ts";
import { newRepositories, type Repositories } from "./repositories.ts";

let repositories: Repositories;
let fake: FakeGitHub | undefined;
let bench: Workbench;
let environment: Io["environment"];
afterEach(async () => {
  await bench.close();
  await fake?.close();
  fake = undefined;
  repositories.close();
});

const NEVER = { poll: "10h" };
const WORKS: Script = { "*": [{ via: "text", text: "done", write: { "made.txt": "made" }, commit: true }] };

async function open(kind: "local" | "remote" | "gh", merge: JsonObject = NEVER): Promise<void> {
  repositories = newRepositories({ remote: kind !== "local" });
  if (kind === "gh") fake = await openFakeGitHub(repositories, kind);
  const { dir, project } = repositories;
  environment = fake?.environment ?? { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_GLOBAL: "/dev/null" };
  bench = await openWorkbench({ place: { dir, project, environment }, settings: () => ({ merge }) });
}

const start = (mode = "auto", subject = "AGI-7") =>
  bench.run("ticket", WORKS, {
    subject,
    facts: { ticket: { repo: "org/app", status: "Needs Validate" }, config: { merge_mode: mode } },
  });
const landed = async (run: Run) => landedRecord(await bench.passrail.store.attempts(run.id));

function terminal(): { io: Io; read: () => Record<string, unknown> } {
  const lines: string[] = [];
  const io: Io = {
    out: (line) => lines.push(line),
    err: () => {},
    json: true,
    plain: true,
    quiet: false,
    color: false,
    tty: false,
    columns: 80,
    environment,
    cwd: repositories.project,
    home: repositories.home,
  };
  return { io, read: () => JSON.parse(lines.join("\n")) as Record<string, unknown> };
}

const refused = (command: Promise<number>): Promise<string> =>
  command.then(
    () => "it was taken",
    (error: unknown) => (error instanceof CliError ? error.code : String(error)),
  );
const wordOf = (run: Run, word: string) =>
  until(`${run.subject.id} is ${word}`, async () => ((await bench.load(run.id)).word === word ? true : undefined));

test("R-004-51: done takes a person's word only for what is to be seen", async () => {
  await open("gh");
  const run = await start();
  expect(run.word).toBe("Awaiting Merge");
  expect(await refused(done(terminal().io, "AGI-7", { force: false }))).toBe("not_merged");
  expect((await bench.load(run.id)).word).toBe("Awaiting Merge");
  fake?.merge(1, "merge");
  await done(terminal().io, "AGI-7", { force: false });
  await wordOf(run, "Done");
  expect(await refused(done(terminal().io, "AGI-7", { force: false }))).toBe("not_awaiting_merge");
  expect(await refused(done(terminal().io, "AGI-8", { force: false }))).toBe("run_not_found");
});

test("R-004-51: work that was squashed by hand is named by its commit, which must be in the target", async () => {
  await open("remote");
  const run = await start();
  const work = (await landed(run))?.commit ?? "";
  expect(await refused(done(terminal().io, "AGI-7", { force: false, commit: work }))).toBe("not_merged");
  expect(await refused(done(terminal().io, "AGI-7", { force: false, commit: "--all" }))).toBe("invalid_commit");
  const squashed = repositories.there("commit-tree", `${work}^{tree}`, "-p", "main", "-m", "squashed");
  repositories.there("update-ref", "refs/heads/main", squashed);
  expect(await refused(done(terminal().io, "AGI-7", { force: false }))).toBe("not_merged");
  await done(terminal().io, "AGI-7", { force: false, commit: squashed.slice(0, 12) });
  await wordOf(run, "Done");
  expect(await landed(run)).toMatchObject({ how: "merged", commit: squashed });
});

test("what cannot be proven counts with a reason only, and the record says so", async () => {
  await open("local");
  const run = await start();
  expect(await refused(done(terminal().io, "AGI-7", { force: true, reason: " " }))).toBe("reason_missing");
  await done(terminal().io, "AGI-7", { force: true, reason: "copied by hand" });
  await wordOf(run, "Done");
  expect(await landed(run)).toMatchObject({ how: "forced" });
  const warning = (await bench.events(run.id)).find(({ type }) => type === "warning.raised");
  expect(warning).toMatchObject({ code: "merge_not_proven", message: expect.stringContaining("copied by hand") });
});

test("the merge queue shows what waits, with its address", async () => {
  await open("gh");
  await start();
  const { io, read } = terminal();
  await mergeQueue(io);
  expect(read()).toMatchObject({
    merges: [
      {
        ticket: "AGI-7",
        state: "awaiting merge",
        branch: "feat/AGI-7",
        target: "main",
        url: "https://github.com/org/app/pull/1",
      },
    ],
  });
});

test("a branch whose work is seen in the target is removed here and there, pinned, and comes back", async () => {
  await open("remote", { poll: "100ms", delete_branch: true });
  const run = await start("merge");
  expect(run.word).toBe("Done");
  const { approved = "" } = (await landed(run)) ?? {};
  const heads = (...args: string[]): string => repositories.git("for-each-ref", "--format=%(refname)", ...args);
  await until("the branch is gone", () => (heads("refs/heads/feat") === "" ? true : undefined));
  expect(repositories.git("for-each-ref", "--contains", approved, "refs/passrail/keep")).not.toBe("");
  const listed = terminal();
  await undoList(listed.io);
  expect(listed.read()).toMatchObject({ branches: [{ ticket: "AGI-7", branch: "feat/AGI-7", state: "gone" }] });
  const back = terminal();
  await undo(back.io, "AGI-7");
  expect(back.read()).toMatchObject({ type: "restored", branch: "feat/AGI-7", commit: approved });
  expect(repositories.git("rev-parse", "feat/AGI-7")).toBe(approved);
  const again = terminal();
  await undo(again.io, "AGI-7");
  expect(again.read()).toMatchObject({ type: "there", branch: "feat/AGI-7" });
});

test("a branch that is pushed for others to build on stays; a name that is taken is not touched by undo", async () => {
  await open("remote", { poll: "100ms", delete_branch: true });
  const run = await bench.run("ticket", WORKS, {
    subject: "AGI-7",
    facts: { ticket: { status: "Needs Validate", terminal: false }, config: {} },
  });
  expect(run.word).toBe("Done");
  const { commit = "" } = (await landed(run)) ?? {};
  const theirs = repositories.commit("feat/AGI-7", { "theirs.txt": "x" }, "main");
  const { io, read } = terminal();
  await undo(io, "AGI-7");
  expect(read()).toMatchObject({ type: "restored", branch: "feat/AGI-7-restored", commit });
  expect(repositories.git("rev-parse", "feat/AGI-7")).toBe(theirs);
  expect(await refused(undo(terminal().io, "AGI-9"))).toBe("ticket_not_found");
});

test("R-004-51: a webhook about a merge wakes the watcher and proves nothing by itself", async () => {
  await open("gh");
  const run = await start();
  let woken = 0;
  const { app, store } = bench.passrail;
  const deps = {
    store,
    app,
    notify: async () => undefined,
    lookAtMerges: () => woken++,
  };
  const source = standardSource({ name: "hooks", secrets: [] });
  const word = {
    stages: "last",
    answer: "approve",
    comment: "",
    commit: null,
    otherwise: "refuse",
  } as const;
  const intent = { type: "answer-gate", subjectId: "AGI-7", ...word } as const;
  expect(await carryOut(deps, { source, intent, signalId: "one" })).toMatchObject({
    ok: true,
    value: { code: "accepted" },
  });
  expect(woken).toBe(1);
  expect((await bench.load(run.id)).word).toBe("Awaiting Merge");
});

test("a forge that is out of reach is asked again later, and it is said once", async () => {
  await open("gh", { poll: "100ms" });
  const run = await start();
  if (fake === undefined) throw new Error("no GitHub");
  fake.outage = { status: 502, times: 2 };
  await until("it was said", () => (bench.errors.length > 0 ? true : undefined));
  fake.merge(1, "merge");
  await wordOf(run, "Done");
  expect(bench.errors.map(String).filter((text) => text.includes("could not be looked at"))).toHaveLength(1);
});
