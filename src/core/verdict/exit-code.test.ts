import { expect, test } from "vitest";
import { readExitCode } from "./exit-code.ts";

test.each([
  [0, "0"],
  [1, "1"],
  [137, "137"],
  [null, "1"],
])("exit code %j is the health word %j", (code, health) => {
  expect(readExitCode(code)).toEqual({ ok: true, value: { health } });
});

const NEXT = {
  "Needs Implement": "revise",
  "Needs Human Review": "reject",
  "Needs Human Decision": "blocked",
} as const;
const block = (...lines: string[]) => ["some talk", "WORK_RESULT:", ...lines.map((line) => `  ${line}`)].join("\n");

test("R-004-53: a WORK_RESULT block that asks for Needs Implement sends the work back, and its error is the issue", () => {
  const lines = ["success: false", "next_status: Needs Implement", "error: the list is not sorted"];
  const sent = readExitCode(0, block(...lines), NEXT);
  expect(sent).toMatchObject({
    ok: true,
    value: { verdict: "revise", structured: true, issues: ["the list is not sorted"] },
  });
  // It was granted: comparing it with the status that follows would only find another word.
  expect(sent).not.toHaveProperty("value.claimed");
  expect(sent).not.toHaveProperty("value.warnings");
  const listed = readExitCode(0, block(...lines, "findings: |", "  sort it", "  test it"), NEXT);
  expect(listed).toMatchObject({ ok: true, value: { issues: ["sort it", "test it"] } });
});

test("a worker asks for a person's review or decision", () => {
  const review = readExitCode(0, block("success: false", "next_status: Needs Human Review"), NEXT);
  expect(review).toMatchObject({ ok: true, value: { verdict: "reject" } });
  const decision = block("success: false", "next_status: Needs Human Decision", "error: Postgres or SQLite?");
  expect(readExitCode(0, decision, NEXT)).toMatchObject({
    ok: true,
    value: { health: "blocked", questions: ["Postgres or SQLite?"] },
  });
});

test("a status that the stage may not ask for is a claim and nothing more; a failure without one is a failure", () => {
  const claims = readExitCode(0, block("success: true", "next_status: Done"), NEXT);
  expect(claims).toMatchObject({ ok: true, value: { health: "0", claimed: { status: "Done" } } });
  expect(claims).not.toHaveProperty("value.verdict");
  expect(readExitCode(0, block("success: false", "error: boom"), NEXT)).toMatchObject({
    ok: true,
    value: { cause: "work_result_failure", reason: "boom" },
  });
});

test("a block cannot mend an exit code, and without a list of what may be asked for it is only text", () => {
  expect(readExitCode(3, block("success: true"), NEXT)).toEqual({ ok: true, value: { health: "3" } });
  expect(readExitCode(0, block("success: false"))).toEqual({ ok: true, value: { health: "0" } });
  expect(readExitCode(0, "no block", NEXT)).toEqual({ ok: true, value: { health: "0" } });
  expect(readExitCode(0, block("success: perhaps"), NEXT)).toMatchObject({ ok: false });
});
