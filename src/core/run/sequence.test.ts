import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { aroundOf, expand, factOf, findWork, stageAfter, stagesOf, statusWord } from "./sequence.ts";
import { simulate } from "./simulate.ts";

const routed = shippedFlow("routed");
const runWith = (...agents: string[]) => simulate(routed, [{ stage: "route", stages: agents }], { facts: {} }).run;

test("R-001-31: a list may name an agent twice; each gets its own stage", () => {
  const run = runWith("builder", "reviewer", "builder", "reviewer", "documenter");
  const ids = stagesOf(routed, run, MAIN_TRACK).map(({ id }) => id);
  expect(ids).toEqual(["route", "run", "builder", "reviewer", "builder-2", "reviewer-2", "documenter"]);
  expect(findWork(routed, run, MAIN_TRACK, "reviewer-2")).toMatchObject({
    agent: "reviewer",
    result: { from: "file-verdict" },
  });
});

test("an agent that is called like a stage gets a number", () => {
  expect(expand(routed, [{ agent: "run", teams: false }])).toEqual([{ agent: "run", teams: false, id: "run-2" }]);
});

test("R-001-20: going back looks at the nearest earlier agent of the same list", () => {
  const run = runWith("architect", "builder", "builder", "reviewer");
  expect(aroundOf(routed, run, MAIN_TRACK, "reviewer").before.map(({ id }) => id)).toEqual([
    "builder-2",
    "builder",
    "architect",
  ]);
});

test("teams of the router's list reach the stage, without it is off", () => {
  const script = [{ stage: "route", stages: [{ agent: "builder", teams: true }, { agent: "reviewer" }] }];
  const { run } = simulate(routed, script, { facts: {} });
  expect(findWork(routed, run, MAIN_TRACK, "builder")).toMatchObject({ teams: true, turns: { alone: 50, team: 200 } });
  expect(findWork(routed, run, MAIN_TRACK, "reviewer")).toMatchObject({ teams: false });
});

test("the last stage has none after it", () => {
  const run = runWith("builder");
  expect(stageAfter(routed, run, MAIN_TRACK, "builder")).toBeUndefined();
  expect(stageAfter(routed, run, MAIN_TRACK, "run")?.id).toBe("builder");
});

test("facts are looked up in the run only, never in what objects inherit", () => {
  const run = { ...runWith("builder"), facts: { input: { agent: "builder" } } };
  expect(factOf(run, ["input", "agent"])).toBe("builder");
  expect(factOf(run, ["input", "constructor"])).toBeUndefined();
  expect(factOf(run, ["input", "agent", "length"])).toBeUndefined();
  expect(factOf(run, ["last", "route", "health"])).toBe("complete");
  expect(factOf(run, ["last", "nobody", "health"])).toBeUndefined();
});

test("a status rule picks one of two words", () => {
  const run = { ...runWith("builder"), facts: { config: { merge: true } } };
  expect(statusWord(run, "plain")).toBe("plain");
  expect(statusWord(run, { when: "config.merge", is: "yes", else: "no" })).toBe("yes");
  expect(statusWord(run, { when: "config.other", is: "yes", else: "no" })).toBe("no");
});
