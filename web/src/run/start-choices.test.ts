import { expect, test } from "vitest";
import { choicesBody, choicesFlags, NO_CHOICES, withEntry, wrongAmounts } from "./start-choices.ts";

test("what a person chose is sent and shown as flags; what they did not choose is neither", () => {
  expect([choicesBody(NO_CHOICES), choicesFlags(NO_CHOICES)]).toEqual([{}, ""]);
  const agents = withEntry(withEntry({ qa: "gemini" }, "build", "codex exec -"), "qa", "");
  const chosen = {
    agents,
    models: { build: " opus ", qa: "  " },
    workspace: "clone",
    usd: "$5",
    tokens: "1,000",
  } as const;
  expect(choicesBody(chosen)).toEqual({
    agents: { build: "codex exec -" },
    models: { build: "opus" },
    workspace: "clone",
    budget: { usd: 5, tokens: 1000 },
  });
  expect(choicesFlags(chosen)).toBe(
    " --agent 'build=codex exec -' --model 'build=opus' --workspace clone --usd 5 --tokens 1000",
  );
});

test("an amount that is none is not sent, and its field says so", () => {
  const typed = { ...NO_CHOICES, usd: "lots", tokens: "0" };
  expect(choicesBody(typed)).toEqual({});
  expect(Object.keys(wrongAmounts(typed))).toEqual(["/budget/usd", "/budget/tokens"]);
  expect(wrongAmounts({ ...NO_CHOICES, usd: "2.50" })).toEqual({});
});
