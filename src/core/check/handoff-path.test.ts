import { expect, test } from "vitest";
import { handoffPath, handoffPathFault } from "../flow/handoff-path.ts";
import { flowFileSchema } from "../flow/flow-file.ts";
import { resolveFlow } from "../flow/flow.ts";
import { handoffPathProblems } from "./handoff-path.ts";
import { placesOf } from "./places.ts";

test.each([
  ["/tmp/{role}-{iteration}.md", "relative"],
  ["../{role}-{iteration}.md", "relative"],
  ["handoffs/../x/{iteration}.md", "relative"],
  [".git/{iteration}.md", "relative"],
  ["handoffs/{role}.md", "{iteration}"],
  ["{role}-{iteration}.md", "folder of its own"],
  ["handoffs/{ticket.id}-{iteration}.md", "{ticket.id} is not known"],
])("%s is refused", (template, why) => {
  expect(handoffPathFault(template)).toContain(why);
});

test("hostile ids stay names of files", () => {
  const names = { run: "r1", track: "main", stage: "dev", role: "developer", iteration: 2 };
  const of = (feature: string) => handoffPath("handoffs/{feature}/{role}-{iteration}.md", { ...names, feature });
  expect(handoffPathFault("handoffs/{feature}/{role}-{iteration}.md")).toBeUndefined();
  expect(of("F-1")).toBe("handoffs/F-1/developer-2.md");
  expect(of("../../etc/passwd")).toBe("handoffs/etc-passwd/developer-2.md");
  expect(of("..")).toBe("handoffs/x/developer-2.md");
  expect(of(".git\n")).toBe("handoffs/git-/developer-2.md");
});

const problemsOf = (handoffs: object) => {
  const result = { from: "handoff-file" };
  const stages = ["one", "two"].map((id) => ({ id, agent: "builder", result }));
  const file = flowFileSchema.parse({ flow: "small", version: 1, subject: "thing", handoffs, stages });
  return handoffPathProblems(file, placesOf(file, resolveFlow(file))).map(({ code }) => code);
};

test("two stages of one agent need {stage}, and commit needs a path", () => {
  expect(problemsOf({ path: "handoffs/{role}-{iteration}.md" })).toEqual(["handoff_path_shared"]);
  expect(problemsOf({ path: "handoffs/{stage}-{iteration}.md" })).toEqual([]);
  expect(problemsOf({ commit: true })).toEqual(["handoff_path_missing"]);
});
