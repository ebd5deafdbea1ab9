import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventBody } from "../../core/run/event.ts";
import type { InboxItem } from "../../core/run/run.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import type { Store } from "../../store/store.ts";
import { after, carryOf, changeOf, commitAll, eventAt, minute, newRun } from "../../store/store.testsuite.ts";
import { decisionsSince } from "./decisions.ts";

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-decisions-"));
  store = openSqliteStore({ file: join(folder, "passrail.db") });
});

afterEach(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

const base = { stage: "analyst", who: "owner", openedAt: minute(1) };
const choice: InboxItem = {
  ...base,
  number: 1,
  kind: "choice",
  questions: ["a or b?"],
  choices: { a: "self", b: "stop" },
  key: "reject",
};
const question: InboxItem = {
  ...base,
  number: 2,
  kind: "question",
  questions: ["which?"],
  goto: "self",
  key: "blocked",
};

test("a choice is reported as a choice with its answer, a question with its text", async () => {
  const run = newRun("a");
  const answered = (number: number, answer: string): EventBody => ({
    type: "question.answered",
    track: "main",
    stage: "analyst",
    number,
    answer,
  });
  const bodies: readonly EventBody[] = [
    { type: "question.asked", track: "main", item: choice, carry: carryOf(0) },
    answered(1, "b"),
    { type: "question.asked", track: "main", item: question, carry: carryOf(0) },
    answered(2, "the blue one"),
  ];
  await commitAll(store, [
    run,
    changeOf(
      after(run),
      bodies.map((body, index) => ({ ...eventAt(minute(2 + index), body), actor: "human:ada" as const })),
    ),
  ]);
  const { decisions, isWhole } = await decisionsSince(store, { since: minute(0), limit: 10 });
  expect(isWhole).toBe(true);
  expect(decisions).toMatchObject([
    { id: "a.2", kind: "question", answer: "", text: "the blue one", by: "human:ada", at: minute(5) },
    { id: "a.1", kind: "choice", answer: "b", text: "", stage: "analyst", at: minute(3) },
  ]);
});
