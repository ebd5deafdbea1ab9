import { expect, test } from "vitest";
import { flowFileSchema } from "./flow-file.ts";
import { resolveFlow } from "./flow.ts";
import { lastGates } from "./last-gates.ts";

const gate = (id: string) => ({ id, kind: "gate", who: "owner" });
const flowOf = (...stages: readonly object[]) =>
  resolveFlow(flowFileSchema.parse({ flow: "small", version: 1, subject: "thing", allow_ungated: true, stages }));

test("the last gates are those behind which no agent works, whatever the flow calls them", () => {
  const build = { id: "build", agent: "builder" };
  expect(lastGates(flowOf(gate("begin"), build, gate("deliver")))).toEqual(["deliver"]);
  expect(lastGates(flowOf(build, gate("check"), gate("deliver")))).toEqual(["check", "deliver"]);
  expect(lastGates(flowOf(gate("begin"), build))).toEqual([]);
});

test("landing and waiting for a merge outside come after the last gate", () => {
  const land = { id: "land", kind: "builtin", do: "land" };
  const merge = { id: "wait", agent: "forge", runner: "outside" };
  expect(lastGates(flowOf({ id: "build", agent: "builder" }, gate("deliver"), land, merge))).toEqual(["deliver"]);
});
