// Which attempts an attempt goes on with, and what it is told of them.

import { expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { interruptedText } from "../core/prompt/interrupted.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import { firstCutOff, interruptedSession } from "./interruption.ts";
import type { AttemptJob } from "./job.ts";

const FROM = "a".repeat(40);
const job = (attempt: number): Pick<AttemptJob, "stage" | "attempt"> =>
  ({ stage: { id: "build" }, attempt }) as Pick<AttemptJob, "stage" | "attempt">;

const cut = (attempt: number, facts: JsonObject = {}, status: EarlierAttempt["status"] = "interrupted") =>
  ({
    runId: "r",
    stage: "build",
    attempt,
    track: "main",
    status,
    endedAt: null,
    outcome: null,
    facts: {
      process: { pid: 2, startTime: "s", marker: "m" },
      runner: "claude",
      from: FROM,
      session: { id: `s${attempt}` },
      ...facts,
    },
  }) satisfies EarlierAttempt;

const session = (attempts: readonly EarlierAttempt[], runner = "claude") =>
  interruptedSession({ stage: "build", attempt: (attempts.at(-1)?.attempt ?? 0) + 1 }, attempts, runner)?.id;

test("R-X-05: the session of the attempt that was cut off right before is resumed, by the same runner only", () => {
  expect(session([cut(1)])).toBe("s1");
  expect(session([cut(1)], "codex")).toBeUndefined();
  expect(session([cut(1), cut(2, {}, "done")])).toBeUndefined();
  expect(session([{ ...cut(1), stage: "review" }])).toBeUndefined();
});

test("R-X-05: an attempt that died before its program told a session hides no earlier one", () => {
  expect(session([cut(1), cut(2, { session: null })])).toBe("s1");
  expect(session([cut(1), cut(2, { process: null, runner: null })])).toBe("s1");
  expect(session([cut(1), cut(2, { session: null, runner: "codex" })])).toBeUndefined();
});

test("R-X-05: a session that was cut off four times in a row is not resumed again", () => {
  expect(session([cut(1), cut(2), cut(3)])).toBe("s3");
  expect(session([cut(1), cut(2), cut(3), cut(4)])).toBeUndefined();
});

test("work begins where the first of the attempts began that were cut off in a row", () => {
  const before = cut(1, { from: "b".repeat(40) }, "done");
  expect(firstCutOff(job(4), [before, cut(2), cut(3, { from: "c".repeat(40) })])?.attempt).toBe(2);
  // The record of the attempt itself is among them.
  expect(firstCutOff(job(2), [cut(1, {}, "done"), cut(2, {}, "running")])).toBeUndefined();
  expect(firstCutOff(job(2), [cut(1, { process: null, runner: null })])).toBeUndefined();
});

test("R-X-05: work counts as cut off from the moment before its program starts, whether or not its process was recorded", () => {
  expect(firstCutOff(job(2), [cut(1, { process: null, session: null })])?.facts.from).toBe(FROM);
});

test("R-X-05: the note says what Passrail found, and a file's name cannot end its quotation", () => {
  const found = { from: FROM, commits: 2, stat: "src/a.ts | +3 -1\n``` | +1 -0" };
  const kept = interruptedText({ attempts: [1], found }, "kept");
  expect(kept).toContain("Attempt 1 of your stage was cut off");
  expect(kept).toContain("same conversation");
  expect(kept).toContain("2 commits");
  expect(kept).toContain("````text\nsrc/a.ts | +3 -1\n``` | +1 -0\n````");
  const fresh = interruptedText({ attempts: [1, 2], found: { from: FROM, commits: 0, stat: "" } }, "none");
  expect(fresh).toContain("Attempts 1, 2 of your stage were cut off");
  expect(fresh).toContain("new conversation");
  expect(fresh).toContain("shows no change");
  const moved = interruptedText({ attempts: [1], found: { from: FROM, commits: "some", stat: "a | +1 -0" } }, "none");
  expect(moved).toContain("the branch has some commits");
  expect(interruptedText({ attempts: [1], found: null }, "none")).toContain("no git history");
});
