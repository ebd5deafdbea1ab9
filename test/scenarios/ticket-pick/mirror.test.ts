// The file and the run: what each tells the other, and that neither is overwritten.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { OK, type Opened, openHere, openShort, type Project } from "./project.ts";

let project: Project | undefined;
let here: Opened | undefined;
afterEach(async () => {
  await here?.close();
  project?.remove();
  [project, here] = [undefined, undefined];
});

/** A stage that waits for a file, so that there is time to edit. */
async function holding(stage: string, script: Readonly<Record<string, unknown>> = {}) {
  const own = openShort({ "*": [OK] });
  project = own;
  const gate = join(own.dir, "go");
  const trace = join(own.dir, "trace");
  own.settings(
    { "*": [{ ...OK, trace }], ...script, [stage]: [{ ...OK, hold: gate, trace }] },
    { tickets: { flow: "short" } },
  );
  const file = own.ticket(1, { note: "mine" }, "Do it.\n\n# Kept as it is   \n");
  const opened = await openHere(own);
  here = opened;
  const begins = () =>
    existsSync(trace)
      ? readFileSync(trace, "utf8")
          .split("\n")
          .filter((line) => line.includes('"begin"'))
      : [];
  await until(`${stage} works`, () => begins().some((line) => line.includes(`"${stage}"`)) || undefined);
  const edit = (from: string | RegExp, to: string) => writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  return { own, opened, file, gate, edit, begins, release: () => writeFileSync(gate, "") };
}

const statusLine = /^status: .*$/mu;
const warnings = async (opened: Opened) =>
  (await opened.events("AGI-1")).flatMap((event) => (event.type === "warning.raised" ? [event.code] : []));

test("R-004-47: the file says In Progress while a stage works, and keeps everything that is not ours", async () => {
  const { own, opened, release } = await holding("implement");
  expect(own.status(1)).toBe("Implement In Progress");
  expect(own.key(1, "branch")).toBe("feat/AGI-1");
  expect(own.key(1, "run")).toBe("1");
  release();
  await until("it is done", () => own.status(1) === "Done" || undefined);
  expect(own.read(1)).toContain("Do it.\n\n# Kept as it is   \n");
  expect(own.key(1, "note")).toBe("mine");
  expect(opened.errors).toEqual([]);
});

test("a person's edit of title and body reaches the next attempt", async () => {
  const { own, opened, edit, release } = await holding("plan");
  edit("Do it.", "Do it twice.");
  edit("Ticket 1", "Another title");
  await until(
    "the run knows",
    async () => (await opened.newestRun("AGI-1")).subject.body.includes("twice") || undefined,
  );
  release();
  await until("it is done", () => own.status(1) === "Done" || undefined);
  const run = await opened.newestRun("AGI-1");
  const prompt = (stage: string) => readFileSync(join(own.home, "runs", run.id, `${stage}-1`, "prompt.md"), "utf8");
  expect(prompt("plan")).not.toContain("Do it twice.");
  expect(prompt("implement")).toContain("Do it twice.");
  expect(prompt("implement")).toContain("Another title");
  expect((await opened.passrail.store.runsOf("AGI-1"))[0]?.subject.title).toBe("Another title");
  expect(await opened.events("AGI-1")).toContainEqual(
    expect.objectContaining({ type: "ticket.edited", actor: "human:file" }),
  );
  expect(await opened.passrail.store.verify()).toEqual([]);
});

test("a status set to Canceled ends the run, also while an attempt works", async () => {
  const { own, opened, edit } = await holding("plan");
  edit(statusLine, "status: Canceled");
  await until("it is canceled", async () => (await opened.newestRun("AGI-1")).status === "canceled" || undefined);
  expect(await opened.newestRun("AGI-1")).toMatchObject({ by: "human:file", reason: "canceled in its file" });
  await opened.passrail.mirror?.settled();
  expect(own.status(1)).toBe("Canceled");
});

test("another status while an attempt works is a conflict that is noted, and acted on when the attempt has ended", async () => {
  const { own, opened, edit, release, begins } = await holding("implement");
  edit(statusLine, "status: Needs Plan");
  await until("the conflict is noted", () => own.key(1, "conflict"));
  expect(own.status(1)).toBe("Needs Plan");
  expect(await warnings(opened)).toEqual(["ticket_conflict"]);
  const { id } = await opened.newestRun("AGI-1");
  release();
  await until("a new run is done", () => own.status(1) === "Done" || undefined);
  const second = await opened.newestRun("AGI-1");
  expect(second.id).not.toBe(id);
  expect((await opened.passrail.store.loadRun(id))?.run).toMatchObject({
    status: "canceled",
    reason: "its file was set to Needs Plan",
  });
  const stages = begins().map((line) => JSON.parse(line) as { run: string; stage: string });
  expect(stages.filter(({ run }) => run === id).map(({ stage }) => stage)).toEqual(["plan", "implement"]);
  expect(stages.filter(({ run }) => run === second.id).map(({ stage }) => stage)).toEqual([
    "plan",
    "implement",
    "validate",
  ]);
  expect(own.key(1, "conflict")).toBeUndefined();
});

test("a conflict that the person takes back is over", async () => {
  const { own, opened, edit, release } = await holding("implement");
  edit(statusLine, "status: Blocked");
  await until("the conflict is noted", () => own.key(1, "conflict"));
  edit(statusLine, "status: Implement In Progress");
  await until("the note is gone", () => own.key(1, "conflict") === undefined || undefined);
  release();
  await until("it is done", () => own.status(1) === "Done" || undefined);
  expect(await opened.passrail.store.runsOf("AGI-1")).toHaveLength(1);
});

test("R-004-49: a failed stage is told in the file, and a person's new status begins a new run without the error", async () => {
  const own = openShort({ "*": [OK], implement: [{ via: "text", text: "boom", exit: 3 }] });
  project = own;
  own.ticket(1);
  const opened = await openHere(own);
  here = opened;
  await until("it is blocked", () => own.status(1) === "Blocked" || undefined);
  const error = await until("the error is told", () => own.key(1, "last_error"));
  const log = /\(log: (.*)\)$/u.exec(error)?.[1] ?? "";
  expect(readFileSync(log, "utf8")).toContain("boom");
  own.settings({ "*": [OK] }, { tickets: { flow: "short" } });
  const file = join(own.project, "feature_requests/FR-1/AGI-1.md");
  writeFileSync(file, own.read(1).replace(statusLine, "status: Needs Implement"));
  await until("it is done", () => own.status(1) === "Done" || undefined);
  expect(own.key(1, "last_error")).toBeUndefined();
  expect(await opened.passrail.store.runsOf("AGI-1")).toHaveLength(2);
});

test("R-004-61: after a restart a file with the word from before the last write lags behind and is no edit", async () => {
  const { own, opened, edit, release } = await holding("implement");
  await opened.passrail.close();
  // As after a crash between the note of what is to be written and the file itself.
  edit(statusLine, "status: Needs Implement");
  edit(/^run: .*\n/mu, "");
  here = await openHere(own);
  await until("the file is brought up", () => own.key(1, "run"));
  expect(own.status(1)).toBe("Implement In Progress");
  release();
  await until("it is done", () => own.status(1) === "Done" || undefined);
  expect(await here.passrail.store.runsOf("AGI-1")).toHaveLength(1);
  expect(await warnings(here)).toEqual([]);
});

test("R-004-61: after a restart any other word is the person's", async () => {
  const { own, opened, edit, release } = await holding("implement");
  await opened.passrail.close();
  edit(statusLine, "status: Blocked");
  release();
  here = await openHere(own);
  await until("the run is over", async () => (await here?.newestRun("AGI-1"))?.status === "canceled" || undefined);
  await here.passrail.mirror?.settled();
  expect(own.status(1)).toBe("Blocked");
  expect(await here.passrail.store.runsOf("AGI-1")).toHaveLength(1);
});

test("a file that cannot be written does not stop its run, and is brought up when it can", async () => {
  const { own, opened, file, edit, release } = await holding("plan");
  const whole = own.read(1);
  edit("---\n", "---\n: [broken\n");
  release();
  await until("it is completed", async () => (await opened.newestRun("AGI-1")).status === "completed" || undefined);
  expect(opened.errors.join("\n")).toContain("AGI-1.md");
  writeFileSync(file, whole);
  await until("the file says so", () => own.status(1) === "Done" || undefined);
});

test("a file that goes away does not stop its run", async () => {
  const { opened, file, release } = await holding("plan");
  rmSync(file);
  release();
  await until("it is completed", async () => (await opened.newestRun("AGI-1")).status === "completed" || undefined);
  expect(await warnings(opened)).toEqual(["ticket_file_missing"]);
  expect(existsSync(file)).toBe(false);
  expect(opened.errors).toEqual([]);
});

test("a file that moved to another folder is followed, and people are told", async () => {
  const { own, opened, release } = await holding("plan");
  const folder = join(own.project, "feature_requests");
  renameSync(join(folder, "FR-1"), join(folder, "FR-2"));
  release();
  await until("it is completed", async () => (await opened.newestRun("AGI-1")).status === "completed" || undefined);
  await opened.passrail.mirror?.settled();
  expect(await warnings(opened)).toEqual(["ticket_file_missing"]);
  expect(readFileSync(join(folder, "FR-2", "AGI-1.md"), "utf8")).toMatch(/^status: "?Done"?$/mu);
});

test("a command in another process is seen in the file", async () => {
  const { own, opened } = await holding("plan");
  const { id } = await opened.newestRun("AGI-1");
  const { code } = await own.passrail(["runs", "cancel", id, "--reason", "not needed"]);
  expect(code).toBe(0);
  await until("the file says so", () => own.status(1) === "Canceled" || undefined);
});
