// How many attempts work at once, and who comes next: seen from the traces that the agents themselves leave.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { optional } from "../../../src/core/optional.ts";

let bench: Workbench;
afterEach(() => bench.close());

type Mark = { readonly mark: "begin" | "end"; readonly run: string; readonly stage: string; readonly attempt: number };

const specOnly = onlyStages("feature", ["start", "spec", "ship"]);
const traceFile = () => join(bench.dir, "trace");
const trace = (): readonly Mark[] => {
  try {
    return readFileSync(traceFile(), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Mark);
  } catch {
    return [];
  }
};
const begun = () => trace().flatMap(({ mark, run }) => (mark === "begin" ? [run] : []));

/** The largest number of agents that were at work at the same time. */
function mostAtOnce(marks: readonly Mark[]): number {
  let now = 0;
  let most = 0;
  for (const { mark } of marks) {
    now += mark === "begin" ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

async function approved(
  flow: Parameters<Workbench["run"]>[0],
  count: number,
  script: (index: number) => Record<string, readonly JsonObject[]>,
): Promise<Run[]> {
  const runs: Run[] = [];
  for (let index = 0; index < count; index++) {
    runs.push(await bench.run(flow, script(index), { subject: `F-${index}`, wait: false }));
  }
  const approve = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
  for (const run of runs) await bench.passrail.engine.deliver(run.id, approve, "human:lance");
  return runs;
}

test("R-000-18: several features run at once, never more than there are slots, and the next starts as soon as one is free", async () => {
  bench = await openWorkbench({ slots: 2 });
  const go = (index: number) => join(bench.dir, `go-${index}`);
  const runs = await approved(specOnly, 4, (index) => ({
    spec: [{ via: "json-tail", verdict: "APPROVED", hold: go(index), trace: traceFile() }],
  }));
  const ids = runs.map(({ id }) => id);
  await until("two agents are at work", () => (begun().length === 2 ? true : undefined));
  expect(begun().toSorted()).toEqual(ids.slice(0, 2).toSorted());
  const waiting = await Promise.all(ids.slice(2).map((id) => bench.load(id)));
  expect(waiting).toMatchObject([{ tracks: { main: { at: "ready" } } }, { tracks: { main: { at: "ready" } } }]);
  // One slot is freed: the third starts while the first still works.
  writeFileSync(go(1), "");
  await until("the third starts", () => (begun().length === 3 ? true : undefined));
  expect(begun()[2]).toBe(ids[2]);
  for (const index of [0, 2, 3]) writeFileSync(go(index), "");
  await bench.passrail.engine.idle();
  expect(begun()[3]).toBe(ids[3]);
  expect(mostAtOnce(trace())).toBe(2);
});

test("R-000-18: at most one stage of a feature runs at a time, over all its loops", async () => {
  bench = await openWorkbench({ slots: 3 });
  const say = (verdict: string) => ({ via: "json-tail", verdict, trace: traceFile() });
  const [run] = await approved("feature", 1, () => ({
    spec: [say("APPROVED")],
    design: [say("APPROVED")],
    build: [say("COMPLETE")],
    qa: [say("REVISE"), say("SHIP")],
  }));
  await bench.passrail.engine.idle();
  expect(await bench.load(run?.id ?? "")).toMatchObject({ word: "review" });
  expect(trace()).toHaveLength(12);
  expect(mostAtOnce(trace())).toBe(1);
});

test("R-000-18: features in separate worktrees build at the same time", async () => {
  bench = await openWorkbench({ slots: 2 });
  const go = join(bench.dir, "go");
  await approved(onlyStages("feature", ["start", "build", "ship"]), 2, () => ({
    build: [{ via: "json-tail", verdict: "COMPLETE", hold: go, trace: traceFile() }],
  }));
  await until("both build", () => (begun().length === 2 ? true : undefined));
  writeFileSync(go, "");
  await bench.passrail.engine.idle();
  expect(mostAtOnce(trace())).toBe(2);
});

test("R-000-18, R-X-14: with a limit of one, IN2 builds for one feature at a time; the others wait in order and their slots are not blocked", async () => {
  bench = await openWorkbench({ slots: 3, settings: () => ({ agents: { IN2: { limit: 1 } } }) });
  const flow = onlyStages("feature", ["start", "build", "ship"]);
  const go = (index: number) => join(bench.dir, `go-${index}`);
  const builds = await approved(flow, 3, (index) => ({
    build: [{ via: "json-tail", verdict: "COMPLETE", hold: go(index), trace: traceFile() }],
  }));
  const [spec] = await approved(specOnly, 1, () => ({ spec: [{ via: "json-tail", verdict: "APPROVED" }] }));
  await until("the other agent is done", async () =>
    (await bench.load(spec?.id ?? "")).word === "review" ? true : undefined,
  );
  // Its agent may need longer to start than the other one to be done.
  await until("the first builds", () => (begun().length > 0 ? true : undefined));
  expect(begun()).toEqual([builds[0]?.id]);
  for (const index of [0, 1, 2]) writeFileSync(go(index), "");
  await bench.passrail.engine.idle();
  expect(begun()).toEqual(builds.map(({ id }) => id));
  expect(mostAtOnce(trace())).toBe(1);
});

test("R-X-14: in one folder only one run works at a time", async () => {
  bench = await openWorkbench({ slots: 3, workspace: "in-place" });
  const entry = () => ({ via: "json-tail", verdict: "APPROVED", sleepMs: 100, trace: traceFile() });
  await approved(specOnly, 3, () => ({ spec: [entry()] }));
  await bench.passrail.engine.idle();
  expect(trace()).toHaveLength(6);
  expect(mostAtOnce(trace())).toBe(1);
});

test("R-000-18: a feature under way comes before one that has not begun", async () => {
  bench = await openWorkbench({ slots: 1 });
  const flow = onlyStages("feature", ["start", "spec", "design", "ship"]);
  const entry = (hold?: string) => ({
    via: "json-tail",
    verdict: "APPROVED",
    trace: traceFile(),
    ...optional({ hold }),
  });
  const go = join(bench.dir, "go");
  const runs = await approved(flow, 2, (index) => ({ spec: [entry(index === 0 ? go : undefined)], design: [entry()] }));
  await until("the first works", () => (begun().length === 1 ? true : undefined));
  writeFileSync(go, "");
  await bench.passrail.engine.idle();
  const order = trace().flatMap(({ mark, run, stage }) =>
    mark === "begin" ? [`${runs.findIndex(({ id }) => id === run)}:${stage}`] : [],
  );
  expect(order).toEqual(["0:spec", "0:design", "1:spec", "1:design"]);
});

test("R-000-18: an agent's limit of the settings holds too", async () => {
  bench = await openWorkbench({ slots: 3 });
  writeFileSync(join(bench.project, "passrail.yaml"), "agents:\n  IN1: { limit: 1 }\n");
  await bench.restart();
  await approved(specOnly, 3, () => ({
    spec: [{ via: "json-tail", verdict: "APPROVED", sleepMs: 50, trace: traceFile() }],
  }));
  await bench.passrail.engine.idle();
  expect(trace()).toHaveLength(6);
  expect(mostAtOnce(trace())).toBe(1);
});
