// A commit whose answer is lost: the engine finds out whether it is stored. What it began is carried out or taken back, never "running" for ever.

import { afterEach, describe, expect, test } from "vitest";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { Change } from "../../../src/store/store.ts";
import { type Loss, lossyStore } from "../../harness/lossy-store.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";

const FLOW = flowOf([
  { id: "a", agent: "builder" },
  { id: "check", kind: "gate" },
  { id: "b", agent: "builder" },
  { id: "c", agent: "builder" },
]);

const LOSSES: readonly Loss[] = ["after", "before", "after, then blind"];

/** Every kind of commit of this run, by an event that it stores. */
const COMMITS: readonly (readonly [string, (event: RunEvent) => boolean])[] = [
  ["the run", ({ type }) => type === "run.created"],
  ["the gate", ({ type }) => type === "gate.opened"],
  ["the answer and the next start", ({ type }) => type === "gate.answered"],
  ["a report and the next start", (event) => event.type === "stage.finished" && event.stage === "b"],
  ["the end", ({ type }) => type === "run.completed"],
];

let scripted: Scripted | undefined;
afterEach(async () => {
  // The engine reports the failures of the store, also while it closes.
  await scripted?.engine.close();
  scripted?.errors.splice(0);
  await scripted?.close();
  scripted = undefined;
});

/** Repeats what failed, as a person or a client does: the same run is started once. */
async function startSurely(runId: string, flow: ResolvedFlow): Promise<void> {
  for (let isStarted = false; !isStarted; )
    isStarted = await (scripted as Scripted).start(runId, flow).then(
      () => true,
      () => false,
    );
}

describe.each(LOSSES)("F13: the answer is lost %s", (loss) => {
  test.each(COMMITS)("of the commit that stores %s", async (_, isIt) => {
    const executed: string[] = [];
    let isLost = false;
    const lose = ({ events }: Change): Loss | undefined => {
      if (isLost || !events.some(isIt)) return undefined;
      isLost = true;
      return loss;
    };
    scripted = await openScripted({
      wrap: (store) => lossyStore(store, lose),
      agent: ({ stage, attempt }) => {
        executed.push(`${stage.id}#${attempt}`);
        return { verdict: "pass", summary: "done" };
      },
    });

    await startSurely("one", FLOW);
    await scripted.until("one", "the gate is open", ({ status }) => status === "waiting");
    await scripted.answer("one", "gate", "approve").catch(() => undefined);
    const answered = await scripted.until("one", "somebody knows", () => true);
    if (answered.status === "waiting") await scripted.answer("one", "gate", "approve");
    await scripted.until("one", "it is completed", ({ status }) => status === "completed");
    expect(isLost).toBe(true);
    // Nobody did the same attempt twice, and no stage was left out.
    expect(new Set(executed).size).toBe(executed.length);
    expect([...new Set(executed.map((each) => each.split("#")[0]))]).toEqual(["a", "b", "c"]);
    const types = await scripted.types("one");
    expect(types.filter((each) => each === "gate.answered")).toHaveLength(1);
    expect(types.filter((each) => each === "run.completed")).toHaveLength(1);
    expect(await scripted.store.verify()).toEqual([]);
  });
});

test("F13: runs that share two slots all end although half of the answers are lost, and through a restart", async () => {
  const executed: string[] = [];
  let commits = 0;
  // Every second answer is lost; now and then the store cannot be asked right away either.
  const lose = (): Loss | undefined =>
    ++commits % 2 === 0 ? undefined : commits % 15 === 0 ? "after, then blind" : "after";
  scripted = await openScripted({
    slots: 2,
    wrap: (store) => lossyStore(store, lose),
    agent: ({ stage, attempt, run }) => {
      executed.push(`${run.id}/${stage.id}#${attempt}`);
      return { verdict: "pass", summary: "done" };
    },
  });
  const flow = flowOf(["a", "b", "c"].map((id) => ({ id, agent: "builder" })));
  const ids = ["r1", "r2", "r3", "r4", "r5"];
  for (const id of ids.slice(0, 3)) await startSurely(id, flow);
  await scripted.until("r1", "it has begun", ({ stages }) => Object.keys(stages).length > 1);
  await scripted.restart();
  for (const id of ids.slice(3)) await startSurely(id, flow);
  for (const id of ids) await scripted.until(id, "it is completed", ({ status }) => status === "completed");
  expect(new Set(executed).size).toBe(executed.length);
  for (const id of ids) expect((await scripted.types(id)).filter((type) => type === "run.completed")).toHaveLength(1);
});
