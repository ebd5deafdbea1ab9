import { expect, test } from "vitest";
import { actName, commandOf, inPlace } from "./acts.ts";

test("each act has its command", () => {
  expect(commandOf("pause", 12, null, "")).toBe("passrail runs pause 12");
  expect(commandOf("cancel", 12, null, " wrong ticket ")).toBe("passrail runs cancel 12 --reason 'wrong ticket'");
  expect(commandOf("retry", 12, "qa", "look at x")).toBe("passrail runs retry 12 --stage qa --note 'look at x'");
  expect(commandOf("rerun", 12, "build", "")).toBe("passrail runs rerun 12 --from build");
  expect(commandOf("skip", 12, "qa", "")).toBe("passrail runs skip 12 --stage qa --reason '…'");
  expect(commandOf("takeover", 12, "build", "")).toBe("passrail runs takeover 12 --stage build");
  const given = { agent: "codex", model: "gpt-6", discard: true };
  expect(commandOf("retry", 12, "qa", "", { ...given, discard: false })).toBe(
    "passrail runs retry 12 --stage qa --agent 'qa=codex' --model 'qa=gpt-6'",
  );
  expect(commandOf("handback", 12, null, "", given)).toBe("passrail runs handback 12 --discard");
});

test("what is said cannot become a command of its own", () => {
  expect(commandOf("cancel", 1, null, "it's $(rm -rf) `x`")).toBe(
    `passrail runs cancel 1 --reason 'it'\\''s $(rm -rf) \`x\`'`,
  );
});

test("names say the stage", () => {
  expect(actName({ act: "rerun", stage: "build" })).toBe("Rerun from build");
  expect(actName({ act: "cancel", stage: null })).toBe("Cancel");
});

test("what an open menu shows keeps its place: it learns what is possible now, and nothing comes or goes", () => {
  const stop = { act: "stop", stage: "spec", why: null } as const;
  const resume = { act: "resume", stage: null, why: null } as const;
  const opened = [stop, { ...resume, why: "the run is not paused" }];
  const now = [{ act: "undo", stage: null, why: null } as const, resume];
  expect(inPlace(opened, now)).toEqual([stop, resume]);
  expect(inPlace(now, now)).toEqual(now);
});
