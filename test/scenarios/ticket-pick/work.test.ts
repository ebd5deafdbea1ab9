// `passrail work` as its users have it: ticket files, the real program, scripted agents, local worktrees.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openForReading } from "../../harness/open-for-reading.ts";
import { isAlive, pidIn } from "../cli/bench.ts";
import { until } from "../../harness/until.ts";
import { OK, openProject, openShort, type Project } from "./project.ts";
import { WALK } from "../../harness/tickets.ts";

let project: Project | undefined;
afterEach(() => {
  project?.remove();
  project = undefined;
});

/** The program starts slowly where many do. */
const PATIENCE_MS = 60_000;

/** Every word that was written into a ticket's file, in order; a word is written only where the one before it stands. */
function written(own: Project): readonly string[] {
  const lines = readFileSync(join(own.home, "tickets.jsonl"), "utf8").trim().split("\n");
  const notes = lines.map((line) => JSON.parse(line) as { before?: string; word?: string });
  for (const [index, note] of notes.entries()) {
    const next = notes[index + 1];
    if (note.word !== undefined && next?.before !== undefined) expect(next.before).toBe(note.word);
  }
  return notes.flatMap(({ word }) => word ?? []);
}

test("R-004-65, R-004-48: a ticket in the backlog walks to Done in its file, with one command, a scripted agent and a local sandbox", async () => {
  const own = openProject();
  project = own;
  own.settings(
    { "*": [OK], implement: [{ ...OK, write: { "made.txt": "1" }, commit: true }] },
    { merge: { mode: "merge" } },
  );
  own.ticket(1);
  const { code, out, err } = await own.passrail(["work", "--once"]);
  expect(err).toContain("▶ AGI-1: Ticket 1");
  const shown = err.split("\n").flatMap((line) => /AGI-1: .* → (.*)$/u.exec(line)?.[1] ?? []);
  expect(shown).toEqual(WALK);
  expect(written(own)).toEqual(WALK);
  expect(own.status(1)).toBe("Done");
  expect({ code, out }).toEqual({ code: 0, out: "" });
});

test("who plays can be said with the command, over what the settings say", async () => {
  const own = openProject();
  project = own;
  own.settings({ "*": [{ via: "text", text: "no", exit: 3 }] }, { tickets: { backlog_entry: "oneshot" } });
  own.ticket(1);
  expect(
    (await own.passrail(["work", "--once", "--agent", "*=/bin/touch made.txt"], { env: { MERGE_MODE: "merge" } })).code,
  ).toBe(0);
  expect(own.status(1)).toBe("Done");
});

test("R-004-54: what a ticket depends on is in its branch, and what both made is landed", async () => {
  const own = openProject();
  project = own;
  const log = join(own.dir, "log");
  const made = { ...OK, write: { "made.txt": "one more" }, commit: true, log };
  own.settings({ "*": [made] }, { merge: { mode: "merge" }, tickets: { backlog_entry: "oneshot" } });
  own.ticket(1);
  own.ticket(2, { dependsOn: ["AGI-1"] });
  expect((await own.passrail(["work", "--once"])).code).toBe(0);
  expect([own.status(1), own.status(2)]).toEqual(["Done", "Done"]);
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", own.project, ...args], { encoding: "utf8" });
  expect(git("show", "main:made.txt")).toBe("one more\none more\n");
  expect(git("show", "feat/AGI-2:made.txt")).toBe("one more\none more\n");
  const store = openForReading(own.home);
  const [newest] = (await store?.runsOf("AGI-2")) ?? [];
  const run = (await store?.loadRun(newest?.id ?? ""))?.run;
  store?.close();
  expect(run?.facts["ticket"]).toMatchObject({ contains: [expect.stringMatching(/^[0-9a-f]{40}$/u)], terminal: true });
});

test("R-004-56, R-004-57: passrail alone only looks, until the operator says that tickets start by themselves; then it works on and on. --once and --json tell what happens", async () => {
  const own = openShort({ "*": [OK] });
  project = own;
  own.ticket(1, { status: "Needs Validate" });
  const looked = await own.passrail([]);
  expect(looked.code).toBe(0);
  expect(looked.out).toContain("1 ticket, 1 can start.");
  expect(looked.out).toContain("passrail work");
  expect(own.status(1)).toBe("Needs Validate");
  expect(existsSync(join(own.home, "passrail.db"))).toBe(false);
  own.settings({ "*": [OK] }, { tickets: { flow: "short", dispatch: true } });
  const alone = own.start([]);
  await until("it is done", () => own.status(1) === "Done" || undefined, PATIENCE_MS);
  await until("it says so", () => alone.err().includes("No eligible tasks") || undefined, PATIENCE_MS);
  const second = await own.passrail(["work"]);
  expect(second).toMatchObject({ code: 1 });
  expect(second.err).toMatch(/Fatal error: Another process works on .*\n.*passrail runs list/u);
  alone.child.kill("SIGINT");
  expect((await alone.ended).code).toBe(0);
  own.ticket(2, { status: "Needs Validate" });
  const told = await own.passrail(["work", "--once", "--json"]);
  const lines = told.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toContainEqual(expect.objectContaining({ type: "started", ticket: "AGI-2" }));
  expect(lines).toContainEqual(
    expect.objectContaining({ type: "status", ticket: "AGI-2", from: "Validate In Progress", to: "Done" }),
  );
});

async function holding() {
  const own = openShort({});
  project = own;
  const gate = join(own.dir, "go");
  const child = join(own.dir, "child");
  own.settings({ "*": [OK], plan: [{ ...OK, hold: gate, child }] }, { tickets: { flow: "short" } });
  own.ticket(1);
  own.ticket(2, { dependsOn: ["AGI-1"] });
  const started = own.start(["work"]);
  await until("it works", () => existsSync(child) || undefined, PATIENCE_MS);
  await until("its file says so", () => own.status(1) === "Plan In Progress" || undefined, PATIENCE_MS);
  return { own, gate, child, started };
}

test("R-004-60: the first signal lets what works finish and begins nothing more", async () => {
  const { own, gate, started } = await holding();
  started.child.kill("SIGTERM");
  await until("it says so", () => started.err().includes("Stopping") || undefined, PATIENCE_MS);
  writeFileSync(gate, "");
  expect((await started.ended).code).toBe(0);
  expect(own.status(1)).toBe("Needs Implement");
  expect(own.status(2)).toBe("Backlog");
});

test("R-004-60: the second signal ends what works, and the file says that it waits to be done again", async () => {
  const { own, child, started } = await holding();
  started.child.kill("SIGINT");
  await until("it says so", () => started.err().includes("Stopping") || undefined, PATIENCE_MS);
  started.child.kill("SIGINT");
  expect((await started.ended).code).toBe(0);
  expect(own.status(1)).toBe("Needs Plan");
  expect(isAlive(pidIn(child))).toBe(false);
});

test("R-004-61: after kill -9 in the middle the next start goes on, and nothing is done twice", async () => {
  const { own, gate, child, started } = await holding();
  started.child.kill("SIGKILL");
  await started.ended;
  expect(own.status(1)).toBe("Plan In Progress");
  writeFileSync(gate, "");
  const { code, err } = await own.passrail(["work", "--once"]);
  expect(code).toBe(0);
  expect(isAlive(pidIn(child))).toBe(false);
  expect([own.status(1), own.status(2)]).toEqual(["Done", "Done"]);
  expect(err).not.toContain("without a run");
  const runs = await own.passrail(["runs", "list", "--json"]);
  const list = (JSON.parse(runs.out) as { runs: { subject: { id: string }; status: string }[] }).runs;
  expect(list.map(({ subject, status }) => `${subject.id} ${status}`).toSorted()).toEqual([
    "AGI-1 completed",
    "AGI-2 completed",
  ]);
  expect((await own.passrail(["verify"])).code).toBe(0);
});

test("R-004-61: a person's edit while nobody works is told from a file that lags behind", async () => {
  const { own, gate, started } = await holding();
  started.child.kill("SIGKILL");
  await started.ended;
  const file = join(own.project, "feature_requests/FR-1/AGI-1.md");
  writeFileSync(file, own.read(1).replace(/^status: .*$/mu, "status: Canceled"));
  writeFileSync(gate, "");
  expect((await own.passrail(["work", "--once"])).code).toBe(0);
  expect([own.status(1), own.status(2)]).toEqual(["Canceled", "Done"]);
  const runs = await own.passrail(["runs", "list", "--json"]);
  const list = (JSON.parse(runs.out) as { runs: { subject: { id: string }; status: string }[] }).runs;
  expect(list.find(({ subject }) => subject.id === "AGI-1")?.status).toBe("canceled");
});

test("a run that is canceled while nobody works is canceled in its file too", async () => {
  const { own, started } = await holding();
  started.child.kill("SIGKILL");
  await started.ended;
  expect((await own.passrail(["runs", "cancel", "1", "--reason", "not needed"])).code).toBe(0);
  expect(own.status(1)).toBe("Canceled");
});

test("a key of .env reaches no agent that does not need it, and stands nowhere", async () => {
  const own = openShort({});
  project = own;
  const secret = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
  writeFileSync(join(own.project, ".env"), `ANTHROPIC_API_KEY=${secret}\nMAX_WORKERS=0\n`);
  own.settings({ "*": [{ via: "text", text: `the key is ${secret}`, exit: 3 }] }, { tickets: { flow: "short" } });
  own.ticket(1, { status: "Needs Validate" });
  // The file counts for what the environment does not say.
  const refused = await own.passrail(["work", "--once"]);
  expect(refused.err).toContain("slots (environment)");
  const { out, err } = await own.passrail(["work", "--once", "--json"], { env: { MAX_WORKERS: "1" } });
  expect(own.status(1)).toBe("Blocked");
  expect(out + err + own.read(1)).not.toContain(secret);
  const found = readdirSync(own.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(secret));
  expect(found).toEqual([]);
});

test.each([
  ["R-004-58", { MAX_WORKERS: "0" }, "slots (environment)"],
  ["R-004-58", { MAX_WORKERS: "-1" }, "slots (environment)"],
  ["R-004-58", { MAX_WORKERS: "three" }, "slots (environment)"],
  ["R-004-45", { MERGE_MODE: "push" }, "merge.mode (environment)"],
])("%s: %j is refused at the start", async (_, env, what) => {
  const own = openShort({ "*": [OK] });
  project = own;
  own.ticket(1);
  const { code, err } = await own.passrail(["work", "--once"], { env });
  expect(code).not.toBe(0);
  expect(err).toContain(what);
  expect(own.status(1)).toBe("Backlog");
});

test("R-004-63: what ends it in the middle is a fatal error, exit 1", async () => {
  const own = openShort({ "*": [OK] });
  project = own;
  own.ticket(1);
  mkdirSync(join(own.dir, "home", "passrail.db"), { recursive: true });
  const { code, err } = await own.passrail(["work", "--once"]);
  expect(err).toMatch(/Fatal error: /u);
  expect(code).toBe(1);
});

test("R-004-57: with a daemon that picks tickets there is nothing more to start", async () => {
  const own = openShort({ "*": [OK] });
  project = own;
  own.ticket(1, { status: "Needs Validate" });
  const up = own.start(["up", "--port", "0", "--work"]);
  await until("the daemon has done it", () => own.status(1) === "Done" || undefined, PATIENCE_MS);
  const second = await own.passrail(["work"]);
  expect(second.code).toBe(1);
  expect(second.err).toContain("It picks the tickets of");
  up.child.kill("SIGTERM");
  expect((await up.ended).code).toBe(0);
});
