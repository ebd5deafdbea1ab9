// Outward acts of a landing: a person who says stop in time keeps the work at home, and one who says it too late is told where it is.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { lateLanding, lateText } from "../../../src/core/run/outward.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { newRepositories, type Repositories } from "../ticket-land/repositories.ts";
import { slowRemote, type SlowRemote } from "./slow-remote.ts";

let repositories: Repositories;
let remote: SlowRemote;
let bench: Workbench;
afterEach(async () => {
  remote.letGo();
  await bench.close();
  repositories.close();
});

const OK = { via: "text", text: "done" };
const WORKS = { ...OK, write: { "made.txt": "made" }, commit: true };

async function open(): Promise<void> {
  repositories = newRepositories({ remote: true });
  remote = slowRemote(repositories);
  const { dir, project } = repositories;
  const environment = { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_GLOBAL: "/dev/null" };
  bench = await openWorkbench({ place: { dir, project, environment }, settings: () => ({ merge: { poll: "100ms" } }) });
}

const file = (): string => join(repositories.project, "feature_requests", "FR-1", "AGI-7.md");

function writeTicket(status: string): void {
  mkdirSync(join(repositories.project, "feature_requests", "FR-1"), { recursive: true });
  writeFileSync(file(), `---\nid: AGI-7\ntitle: t\nrepo: project\nstatus: ${status}\n---\nbody\n`);
}

function start(mode: string, more: Script = {}): Promise<Run> {
  writeTicket("Needs Implement");
  return bench.run(
    "ticket",
    { "*": [OK], implement: [WORKS], ...more },
    {
      subject: "AGI-7",
      wait: false,
      facts: {
        ticket: { repo: "project", status: "Needs Implement", file: "feature_requests/FR-1/AGI-7.md", terminal: true },
        config: { merge_mode: mode },
      },
    },
  );
}

const main = (): string => repositories.there("rev-parse", "refs/heads/main");
const branches = (): string => repositories.there("for-each-ref", "--format=%(refname)", "refs/heads");
const types = async (run: Run): Promise<readonly string[]> => (await bench.events(run.id)).map(({ type }) => type);

test.each(["merge", "pr"])(
  "S14, R-004-41: a status that a person writes before the landing wins, mode %s",
  async (mode) => {
    await open();
    const before = main();
    const gate = join(repositories.dir, "validate-may-end");
    const run = await start(mode, { validate: [{ ...OK, hold: gate }] });
    await until("validate works", () =>
      readFileSync(file(), "utf8").includes("Validate In Progress") ? true : undefined,
    );
    writeFileSync(file(), readFileSync(file(), "utf8").replace(/^status: .*$/mu, "status: Blocked"));
    await until("the conflict is noted", () => (readFileSync(file(), "utf8").includes("conflict:") ? true : undefined));
    writeFileSync(gate, "");
    const ended = await until("the run ends", async () => {
      const now = await bench.load(run.id);
      return now.status === "canceled" || now.status === "completed" ? now : undefined;
    });
    await bench.passrail.engine.idle();
    expect(ended).toMatchObject({ status: "canceled", by: "human:file" });
    expect(main()).toBe(before);
    expect(branches()).toBe("refs/heads/main");
    expect(remote.pushes()).toBe(0);
    expect(await types(run)).not.toContain("outward.intended");
  },
);

test("S14, R-X-09: a cancel during the push ends as canceled, but landed, with a warning, and undo takes it back", async () => {
  await open();
  const before = main();
  remote.behave("slow");
  const run = await start("merge");
  await remote.held();
  await bench.passrail.app.controlRun(run.id, { type: "cancel", reason: "do not merge this" }, { actor: "human:ann" });
  remote.letGo();
  await bench.passrail.engine.idle();
  expect(main()).not.toBe(before);
  const events = await bench.events(run.id);
  expect(events).toContainEqual(expect.objectContaining({ type: "outward.intended", verb: "merge", commit: main() }));
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "outward.seen",
      sight: { result: "done", commit: main(), number: null, url: null },
    }),
  );
  expect(events).toContainEqual(expect.objectContaining({ type: "warning.raised", code: "landed_late" }));
  const landed = main();
  const text = `canceled, but it landed as ${landed} in main`;
  expect(lateText(await bench.load(run.id))).toContain(text);
  expect(readFileSync(file(), "utf8")).toMatch(new RegExp(`^last_error: .*${text}.*passrail undo AGI-7`, "mu"));
  expect(readFileSync(file(), "utf8")).toContain("status: Canceled");
  remote.behave("accepts");
  const later = repositories.somebody("main", { "later.txt": "x" });
  const undone = await bench.passrail.app.controlRun(run.id, { type: "undo" }, { actor: "human:ann" });
  expect(undone).toMatchObject({ ok: true, value: { changed: true } });
  await bench.passrail.engine.idle();
  expect(repositories.there("rev-parse", "main~1")).toBe(later);
  expect(repositories.there("ls-tree", "--name-only", "main").split("\n")).toEqual(["README.md", "later.txt"]);
  expect(lateLanding(await bench.load(run.id))?.undoneBy).toBe(main());
  const again = await bench.passrail.app.controlRun(run.id, { type: "undo" }, { actor: "human:ann" });
  expect(again).toMatchObject({ ok: true, value: { changed: false } });
});
