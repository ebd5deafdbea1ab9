import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { type Flow, MAIN_TRACK } from "../flow/flow.ts";
import type { Run } from "./run.ts";
import { stagesOf } from "./sequence.ts";
import { simulate } from "./simulate.ts";
import { NOT_STARTED, waysOf } from "./targets.ts";

const ways = (flow: Flow, id: string, run: Pick<Run, "expanded"> = NOT_STARTED, track = MAIN_TRACK) => {
  const stage = stagesOf(flow, { ...NOT_STARTED, ...run }, track).find((each) => each.id === id);
  if (stage === undefined) throw new Error(`no stage ${id}`);
  return Object.fromEntries(
    waysOf(flow, run, track, stage).map(({ on, to, counter }) => [on, [to.join(" "), counter]]),
  );
};

test("a loop leads back with its counter, and the end is named", () => {
  const feature = shippedFlow("feature");
  expect(ways(feature, "qa")).toMatchObject({
    pass: ["ship", null],
    revise: ["build", "revision"],
    reject: ["escalate", null],
  });
  expect(ways(feature, "ship")).toEqual({
    approve: ["land", null],
    revise: ["build", null],
    decline: ["cancel", null],
  });
});

test("where tracks begin a way has several ends, and each track leads behind the join", () => {
  const flow = shippedFlow("build-plan-complex");
  const fork = flow.stages.find((stage) => stage.kind === "parallel");
  if (fork?.kind !== "parallel") throw new Error("no parallel stage");
  const heads = Object.values(fork.tracks).map(({ stages }) => stages[0]?.id);
  expect(heads.length).toBeGreaterThan(1);
  const before = flow.stages[flow.stages.indexOf(fork) - 1];
  expect(ways(flow, before?.id ?? "")["pass"]).toEqual([heads.join(" "), null]);
  const after = flow.stages[flow.stages.indexOf(fork) + 1]?.id;
  for (const [track, { stages }] of Object.entries(fork.tracks))
    expect(ways(flow, stages.at(-1)?.id ?? "", NOT_STARTED, track)["pass"]?.[0]).toBe(after);
});

test("a router's list leads on in its own order, once it is known", () => {
  const routed = shippedFlow("routed");
  expect(ways(routed, "route")["pass"]).toEqual(["end", null]);
  const { run } = simulate(routed, [{ stage: "route", stages: ["builder", "reviewer"] }], { facts: {} });
  expect(ways(routed, "route", run)["pass"]).toEqual(["builder", null]);
  expect(ways(routed, "builder", run)["pass"]?.[0]).toBe("reviewer");
  expect(ways(routed, "reviewer", run)["revise"]?.[0]).toBe("builder");
});
