import { expect, test } from "vitest";
import { checkFlow } from "./check-flow.ts";

test("R-X-02: a part of a prompt that does not exist is found, with the likely one", () => {
  const file = {
    flow: "small",
    version: 1,
    subject: "thing",
    defaults: { prompt: ["agent", "handofs"] },
    stages: [
      { id: "work", agent: "builder" },
      { id: "ship", kind: "gate" },
    ],
  };
  const context = { agents: new Set(["builder"]), prompts: new Set<string>(), builtins: new Set<string>() };
  expect(checkFlow(file, context)).toMatchObject({
    ok: false,
    error: [
      { code: "unknown_prompt_part", path: ["defaults", "prompt", 1], hint: expect.stringContaining("handoffs") },
    ],
  });
});
