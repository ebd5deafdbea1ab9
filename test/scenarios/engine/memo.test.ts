// The memo of a stage: a result is reused, with its commits, where everything that it followed from is the same.

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { attemptRow } from "../../../src/core/view/attempt-row.ts";
import { sentenceOf } from "../../../src/core/view/event-sentence.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench({ slots: 8 });
});
afterEach(() => bench.close());

const git = (...args: string[]) => execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();

/** What each agent does, and a line in a file outside that says that it did. */
const agents = (lines: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(lines).map(([stage, line]) => [
      stage,
      ["/bin/sh", "-c", `echo ${stage} >> ${join(bench.dir, "worked")}; ${line}`],
    ]),
  );
const worked = (): readonly string[] => {
  const path = join(bench.dir, "worked");
  const names = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  writeFileSync(path, "");
  return names.filter((name) => name !== "").toSorted();
};

const run = (flow: ResolvedFlow, lines: Readonly<Record<string, string>>, config: JsonObject = {}): Promise<Run> => {
  const facts = { ticket: { repo: "org/app", status: "Needs Plan" }, config, runners: agents(lines) };
  return bench.run(flow, {}, { subject: randomUUID(), title: "Add a thing", facts });
};

const reusedIn = async ({ id }: Run): Promise<readonly string[]> =>
  (await bench.passrail.store.attempts(id)).flatMap(({ stage, outcome }) =>
    outcome?.["reused"] === undefined ? [] : [stage],
  );

const walk = (changed: Readonly<Record<string, object>> = {}): ResolvedFlow =>
  customFlow("ticket", (file) => ({
    ...file,
    stages: ["plan", "implement", "validate"].map((id) => {
      const { then_in_same_workspace: _then, ...stage } = file.stages.find((each) => each.id === id) as JsonObject;
      return { ...stage, memo: true, ...changed[id] };
    }),
    enter: { "Needs Plan": "plan", "Needs Implement": "implement", "Needs Validate": "validate" },
  }));

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");

test("what a person said while the agent worked is never reused", async () => {
  await bench.close();
  bench = await openWorkbench({ answersInPlace: true });
  const flow = customFlow("feature", (file) => ({
    ...file,
    stages: file.stages.filter(({ id }) => id === "spec").map((stage) => ({ ...stage, memo: true })),
  }));
  const script = join(bench.dir, "script.json");
  const done = { submit: { verdict: "APPROVED", summary: "One page." } };
  const visit = [{ ask: { question: "Which database?" } }, done];
  writeFileSync(script, JSON.stringify({ spec: [visit, [done]] }));
  const facts = { runners: { "*": { runner: "claude", command: [process.execPath, AGENT, script] } } };
  const first = await bench.run(flow, {}, { subject: randomUUID(), title: "Add a thing", facts, wait: false });
  const item = await until("a person is asked", async () => openItems(await bench.load(first.id))[0]);
  const answer = {
    type: "item.answered",
    number: item.number,
    kind: "question",
    answer: "",
    text: "Postgres",
  } as const;
  await bench.passrail.engine.deliver(first.id, answer, "human:tester");
  await bench.passrail.engine.idle();
  expect((await bench.load(first.id)).status).toBe("completed");
  // The second starts the agent; its result followed from nobody, so the third takes it.
  const [second, third] = [await again(), await again()];
  expect([await reusedIn(second), await reusedIn(third)]).toEqual([[], ["spec"]]);

  async function again(): Promise<Run> {
    return bench.run(flow, {}, { subject: randomUUID(), title: "Add a thing", facts });
  }
});

const LINES = { plan: "true", implement: "echo code > code.txt", validate: "test -f code.txt" };

test("an edited prompt is worked on again; unchanged stages before and after it are reused with their commits, and say so", async () => {
  const first = await run(walk(), LINES);
  expect(first.status).toBe("completed");
  expect(worked()).toEqual(["implement", "plan", "validate"]);

  const later = await run(walk({ validate: { prompt: "Look closer." } }), LINES);
  expect(later.status).toBe("completed");
  expect(worked()).toEqual(["validate"]);
  expect(await reusedIn(later)).toEqual(["plan", "implement"]);
  const heads = [first, later].map(({ subject }) => git("rev-parse", `feat/${subject.id}`));
  expect(heads[0]).toBe(heads[1]);
  expect(git("show", `feat/${later.subject.id}:code.txt`)).toBe("code");

  // Its commit is the same as before, so what follows it is, too.
  const earlier = await run(walk({ plan: { prompt: "Plan it again." } }), LINES);
  expect(worked()).toEqual(["plan"]);
  expect(await reusedIn(earlier)).toEqual(["implement", "validate"]);

  const [, attempt] = await bench.passrail.store.attempts(later.id);
  const told = `reused from implement#1 of ${first.id}`;
  expect(attempt === undefined ? "" : attemptRow(attempt, 0).summary).toContain(told);
  const sentences = (await bench.events(later.id)).map((event) => sentenceOf(event));
  expect(sentences.filter((sentence) => sentence.includes(told))).toHaveLength(1);
  expect(bench.errors).toEqual([]);
});

test("a memo can be refused for a run and for a stage", async () => {
  await run(walk(), LINES);
  worked();
  await run(walk(), LINES, { memo: false });
  expect(worked()).toEqual(["implement", "plan", "validate"]);
  // Its new commit is another input for what follows.
  await run(walk({ implement: { memo: false } }), LINES);
  expect(worked()).toEqual(["implement", "validate"]);
});

test("one of forty parallel stages died: the next run reuses the other thirty-nine", { timeout: 400_000 }, async () => {
  const names = Array.from({ length: 40 }, (_, at) => `w${at + 1}`);
  const wide = customFlow("ticket", (file) => {
    const {
      then_in_same_workspace: _then,
      checks: _checks,
      status: _status,
      ...stage
    } = file.stages.find(({ id }) => id === "implement") as JsonObject;
    const tracks = names.map((id) => [`t-${id}`, { stages: [{ ...stage, id, memo: true }] }]);
    return {
      ...file,
      workspace: { ...file.workspace, per: "run" },
      stages: [
        { id: "all", kind: "parallel", join: "all-passed", tracks: Object.fromEntries(tracks) },
        { id: "join", kind: "builtin", do: "join" },
      ],
      enter: {},
    };
  });
  const repaired = join(bench.dir, "repaired");
  const line = (name: string): string =>
    `${name === "w7" ? `test -f ${repaired} || exit 3; ` : ""}echo ${name} > ${name}.txt`;
  const lines = Object.fromEntries(names.map((name) => [name, line(name)]));
  const died = await run(wide, lines);
  expect(died.status).not.toBe("completed");
  expect(worked()).toEqual(names.toSorted());
  writeFileSync(repaired, "");
  const again = await run(wide, lines);
  expect(again.status).toBe("completed");
  expect(worked()).toEqual(["w7"]);
  expect(await reusedIn(again)).toHaveLength(39);
  expect(git("ls-tree", "--name-only", `feat/${again.subject.id}`).split("\n")).toEqual(
    expect.arrayContaining(names.map((name) => `${name}.txt`)),
  );
});
