// What starts runs by itself, with a real store and engine: once per occurrence, also when the process dies in between. Time is given, agents are played.

import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TriggerSettings } from "../../../src/settings/triggers.ts";
import { lookOnce, type OpenedTrigger, openTriggers, readTriggers } from "../../../src/trigger/triggers.ts";
import { fakeGh } from "../../harness/fake-gh.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");

let bench: Workbench;
let now: Date;
let told: string[];
beforeEach(async () => {
  now = new Date("2026-03-02T08:59:30.000Z");
  told = [];
  bench = await openWorkbench({
    settings: (dir) => {
      const script = join(dir, "asks.json");
      writeFileSync(script, JSON.stringify({ "*": [{ via: "text", text: "QUESTIONS:\n1. Which?\n" }] }));
      return { agents: { spec: { command: [process.execPath, PLAYER, script] } } };
    },
  });
});
afterEach(() => bench.close());

function open(
  settings: TriggerSettings,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): OpenedTrigger {
  const read = readTriggers([settings], { home: bench.home, project: bench.project, environment });
  const [trigger] = read.ok ? read.value : [];
  if (trigger === undefined) throw new Error(JSON.stringify(read));
  return trigger;
}

const look = (trigger: OpenedTrigger) =>
  lookOnce(
    trigger,
    {
      app: bench.passrail.app,
      store: bench.passrail.store,
      home: bench.home,
      project: bench.project,
      environment: process.env,
      flags: {},
      now: () => now,
      onProblem: () => undefined,
    },
    (text) => told.push(text),
  );
const pass = (iso: string) => (now = new Date(iso));
const runs = async () =>
  (await bench.passrail.store.listRuns({ limit: 50 }))
    .map(({ subject }) => ({ id: subject.id, title: subject.title }))
    .reverse();

describe("a schedule", () => {
  const nightly: TriggerSettings = {
    name: "weekly",
    flow: "intake",
    schedule: "0 10 * * 1",
    timezone: "Europe/Berlin",
    title: "Report {time}",
  };

  test("starts at its time in its zone, once, and not for what was before it was set", async () => {
    const trigger = open(nightly);
    await look(trigger);
    expect(await look(trigger)).toBe(30_000);
    pass("2026-03-02T09:00:00.010Z");
    await look(trigger);
    await look(trigger);
    expect(await runs()).toEqual([{ id: "weekly-20260302t090000z", title: "Report 2026-03-02T09:00:00.000Z" }]);
    const [summary] = await bench.passrail.store.listRuns({ limit: 1 });
    const run = await bench.load(summary?.id ?? "");
    expect(run.facts["trigger"]).toEqual({
      name: "weekly",
      occurrence: "2026-03-02T09:00:00.000Z",
      time: "2026-03-02T09:00:00.000Z",
    });
  });

  test("times that passed while nothing ran are one run", async () => {
    await look(open(nightly));
    pass("2026-04-01T00:00:00.000Z");
    const trigger = open(nightly);
    for (let turn = 0; turn < 4; turn++) await look(trigger);
    expect(await runs()).toEqual([{ id: "weekly-20260302t090000z", title: "Report 2026-03-02T09:00:00.000Z" }]);
    // Summer time: ten o'clock in Berlin is eight in UTC.
    pass("2026-04-06T08:00:01.000Z");
    await look(trigger);
    expect((await runs()).at(-1)).toEqual({ id: "weekly-20260406t080000z", title: "Report 2026-04-06T08:00:00.000Z" });
  });

  test("a process that dies after the run was stored does not start it twice; one that dies before does not lose it", async () => {
    const trigger = open(nightly);
    await look(trigger);
    const before = trigger.memory.read();
    pass("2026-03-02T09:00:01.000Z");
    await look(trigger);
    const after = trigger.memory.read();
    // As it was between the run and the note of it, and as it was before both.
    for (const memory of [{ ...after, pending: null, seen: before.seen }, before]) {
      trigger.memory.write(memory);
      await look(open(nightly));
    }
    expect(await runs()).toHaveLength(1);
    const pending = {
      occurrence: { id: "x", mark: "x", title: "t", body: "", values: {}, facts: {} },
      seen: after.seen,
    };
    trigger.memory.write({ ...after, pending });
    await look(open(nightly));
    expect((await runs()).map(({ id }) => id)).toEqual(["weekly-20260302t090000z", "weekly-x"]);
    expect(open(nightly).memory.read()).toMatchObject({ pending: null, last: { occurrence: "x" } });
  });

  test("what cannot start is told, kept, and started when it can", async () => {
    const broken = open({ ...nightly, flow: "no-such-flow" });
    await look(broken);
    pass("2026-03-02T09:00:01.000Z");
    expect(await look(broken)).toBe(30_000);
    expect(told.join()).toContain("the flow no-such-flow, which does not exist");
    expect(broken.memory.read().problem).toContain("no-such-flow");
    await look(open(nightly));
    expect(await runs()).toHaveLength(1);
    expect(open(nightly).memory.read().problem).toBeNull();
  });
});

describe("files", () => {
  const specs: TriggerSettings = { name: "specs", flow: "intake", files: ["specs/**/*.md"], title: "Look at {file}" };
  const write = (name: string, text: string) => {
    mkdirSync(join(bench.project, "specs/deep"), { recursive: true });
    writeFileSync(join(bench.project, "specs", name), text);
  };

  test("that change together start one run, once they are still; what is the same starts none", async () => {
    write("a.md", "1");
    const trigger = open(specs);
    await look(trigger);
    write("a.md", "2");
    write("deep/b.md", "1");
    write("ignored.txt", "1");
    await look(trigger);
    expect(await runs()).toEqual([]);
    write("a.md", "22");
    await look(trigger);
    expect(await runs()).toEqual([]);
    for (let turn = 0; turn < 3; turn++) await look(trigger);
    expect(await runs()).toEqual([{ id: "specs-1", title: "Look at specs/a.md" }]);
    const [summary] = await bench.passrail.store.listRuns({ limit: 1 });
    expect((await bench.load(summary?.id ?? "")).subject.body).toContain("- specs/a.md\n- specs/deep/b.md");
    utimesSync(join(bench.project, "specs/a.md"), new Date(), new Date());
    rmSync(join(bench.project, "specs/deep/b.md"));
    for (let turn = 0; turn < 3; turn++) await look(trigger);
    expect(await runs()).toHaveLength(1);
  });

  test("that changed while nothing ran are noticed; back and forth is two changes", async () => {
    write("a.md", "1");
    await look(open(specs));
    for (const text of ["2", "1"]) {
      write("a.md", text);
      const trigger = open(specs);
      for (let turn = 0; turn < 3; turn++) await look(trigger);
    }
    expect((await runs()).map(({ id }) => id)).toEqual(["specs-1", "specs-2"]);
  });
});

describe("S08: labelled issues", () => {
  const issue = (number: number, login: string, title = `Issue ${number}`) => ({
    number,
    title,
    body: `{issue.number} $(id) {{X}}`,
    url: `https://github.com/example/shop/issues/${number}`,
    author: { login },
    labels: [{ name: "agent" }],
  });
  const labelled: TriggerSettings = { name: "issues", flow: "intake", github_issue: { label: "agent" } };

  test("of people who may write start one run each, once; those of strangers start none and are named", async () => {
    const gh = fakeGh(bench.dir);
    const issues = [
      issue(12, "writer", "Second {name}\nline"),
      issue(9, "admin-1"),
      issue(10, "stranger"),
      issue(11, "../../x"),
      issue(13, "reader"),
    ];
    gh.play({ issues, permissions: { writer: "write", "admin-1": "admin", reader: "read" } });
    const trigger = open(labelled, { ...process.env, ...gh.env });
    expect(await look(trigger)).toBe(0);
    for (let turn = 0; turn < 3; turn++) await look(trigger);
    expect(await runs()).toEqual([
      { id: "issues-9", title: "Issue 9" },
      { id: "issues-12", title: "Second {name} line" },
    ]);
    const [summary] = await bench.passrail.store.listRuns({ limit: 1 });
    const run = await bench.load(summary?.id ?? "");
    expect(run.subject.body).toBe("{issue.number} $(id) {{X}}");
    expect(run.facts["trigger"]).toMatchObject({ issue: { repo: "example/shop", number: 12, author: "writer" } });
    for (const number of [10, 11, 13]) expect(told.join("\n")).toContain(`left out: example/shop#${number}`);
    expect(gh.calls().filter((args) => args.join().includes(".."))).toEqual([]);
    // Over a restart, and when everything that was remembered is lost.
    rmSync(join(bench.home, "triggers"), { recursive: true });
    const again = open(labelled, { ...process.env, ...gh.env });
    for (let turn = 0; turn < 3; turn++) await look(again);
    expect(await runs()).toHaveLength(2);
  });

  test("with a list of authors only theirs", async () => {
    const gh = fakeGh(bench.dir);
    gh.play({ issues: [issue(1, "admin"), issue(2, "Known")], permissions: { admin: "admin" } });
    const settings = {
      ...labelled,
      github_issue: { label: "agent", repo: "example/shop", authors: ["known"], every: "90s" },
    };
    const trigger = open(settings, { ...process.env, ...gh.env });
    expect(await look(trigger)).toBe(90_000);
    expect((await runs()).map(({ id }) => id)).toEqual(["issues-2"]);
  });

  test("without a login the trigger says so and tries again later", async () => {
    const gh = fakeGh(bench.dir);
    gh.play({ issues: [], login: false });
    expect(await look(open(labelled, { ...process.env, ...gh.env }))).toBe(30_000);
    expect(told.join()).toContain("not logged in");
  });

  test("whoever closes does not wait for a GitHub that does not answer, and nothing is taken for a failure", async () => {
    const gh = fakeGh(bench.dir);
    gh.play({ issues: [], hangs: true });
    const trigger = open(labelled, { ...process.env, ...gh.env });
    const onProblem = (text: string) => void told.push(text);
    const place = { home: bench.home, project: bench.project, environment: process.env, flags: {} };
    const triggers = openTriggers({
      ...place,
      triggers: [trigger],
      app: bench.passrail.app,
      store: bench.passrail.store,
      onProblem,
    });
    await until("gh is asked", () => (gh.calls().length > 0 ? true : undefined));
    const begin = performance.now();
    await triggers.close();
    expect(performance.now() - begin).toBeLessThan(20_000);
    expect(told).toEqual([]);
    expect(trigger.memory.read().problem).toBeNull();
  });
});
