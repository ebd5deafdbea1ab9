// A ladder of runners with the real engine: the next attempt that starts a new session takes the next rung, and the first again afterwards.

import { afterEach, expect, test } from "vitest";
import { liftHold, listHolds } from "../../../src/app/holds.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { sayEvent } from "../../../src/core/view/event-sentence.ts";
import { flowOf, openScripted, type Scripted, type ScriptedJob } from "../../harness/scripted-engine.ts";

const HOUR = 3_600_000;
const QUOTA: Report = { cause: "quota", reason: "out until three", resetsAt: "2026-01-01T15:00:00.000Z" };
const rung = (runner: string) => ({ runner, model: null, reserveUsd: 0, reserveTokens: 0 });
const isDone = (run: Run): boolean => run.status === "completed";
const isHeld = (run: Run): boolean => Object.values(run.tracks).some((at) => at.at === "ready" && "notBefore" in at);

let scripted: Scripted;
afterEach(() => scripted.close());

/** The runner that the stored start says. */
const runnerOf = ({ run, track }: ScriptedJob): string => {
  const at = run.tracks[track];
  return at?.at === "running" ? (at.metered?.runner ?? "") : "";
};

async function open(answer: (runner: string, job: ScriptedJob) => Report | undefined) {
  const calls: string[] = [];
  scripted = await openScripted({
    metered: () => [rung("claude"), rung("codex")],
    agent: (job) => {
      const runner = runnerOf(job);
      calls.push(`${job.stage.id}#${job.attempt} ${runner} rung ${job.rung?.number ?? 0}`);
      return answer(runner, job) ?? { verdict: "pass" };
    },
  });
  return calls;
}

async function sentences(runId: string): Promise<readonly string[]> {
  const events = await scripted.store.events({ after: 0, runId, limit: 1000 });
  return events.map(({ event }) => {
    const { stage, did, detail } = sayEvent(event);
    return `${stage}: ${did}${detail === "" ? "" : `, ${detail}`}`;
  });
}

const two = flowOf([
  { id: "build", agent: "builder" },
  { id: "test", agent: "tester" },
]);

test("a quota moves the work to the next rung at once; no loop is used up, and every place says why", async () => {
  const calls = await open((runner) => (runner === "claude" ? QUOTA : undefined));
  await scripted.start("r", two);
  await scripted.until("r", "is completed", isDone);
  expect(calls).toEqual(["build#1 claude rung 1", "build#2 codex rung 2", "test#1 codex rung 2"]);
  expect(await scripted.types("r")).not.toContain("stage.postponed");
  expect(await sentences("r")).toEqual(
    expect.arrayContaining([
      "build: codex takes the next attempt, claude is over its quota; no loop is used up",
      "build: attempt 2 starts, codex, rung 2 of 2: claude is over its quota",
    ]),
  );
  expect(await listHolds(scripted.store, scripted.now())).toMatchObject([{ runner: "claude", cause: "quota" }]);
});

test("when the limit is gone, the next stage takes the first rung again", async () => {
  let isOut = true;
  const calls = await open((runner) => (runner === "claude" && isOut ? QUOTA : undefined));
  await scripted.start("r", two);
  await scripted.until("r", "is completed", isDone);
  isOut = false;
  await liftHold(scripted, { runner: "claude" }, "human:ann");
  await scripted.start("later", two);
  await scripted.until("later", "is completed", isDone);
  expect(calls.slice(3)).toEqual(["build#1 claude rung 1", "test#1 claude rung 1"]);
});

test("if all rungs are out the stage waits for the first that is back, over a restart, and any of them lets it go", async () => {
  let isOut = true;
  const calls = await open((runner) =>
    isOut ? { ...QUOTA, resetsAt: `2026-01-01T1${runner === "claude" ? 7 : 5}:00:00.000Z` } : undefined,
  );
  await scripted.start("r", two);
  const held = await scripted.until("r", "is held", isHeld);
  expect(held.tracks["main"]).toMatchObject({ at: "ready", notBefore: "2026-01-01T15:00:00.000Z" });
  await scripted.start("other", two);
  await scripted.until("other", "is held", isHeld);
  await scripted.restart();
  isOut = false;
  // The one that is out for longer: whoever waits for the ladder is let go too.
  expect(await liftHold(scripted, { runner: "claude" }, "human:ann")).toMatchObject({ value: { released: 1 } });
  await scripted.until("other", "is completed", isDone);
  await scripted.advance(4 * HOUR);
  await scripted.until("r", "is completed", isDone);
  expect(calls.filter((call) => call.startsWith("build"))).toEqual([
    "build#1 claude rung 1",
    "build#2 codex rung 2",
    "build#1 claude rung 1",
    "build#3 claude rung 1",
  ]);
});

test.each(["auth", "agent_not_found", "spawn_failed", "billing"])(
  "a program with %s is passed over; a stage without a ladder fails as before",
  async (cause) => {
    const calls = await open((runner) => (runner === "claude" ? { cause, reason: "no" } : undefined));
    await scripted.start("r", two);
    await scripted.until("r", "is completed", isDone);
    expect(calls).toEqual(["build#1 claude rung 1", "build#2 codex rung 2", "test#1 codex rung 2"]);
  },
);

test("an attempt that continues a session waits for its own runner, and does not change it in the middle", async () => {
  const calls = await open((runner, job) => {
    if (job.attempt === 1) return { health: "blocked", structured: true, asked: true, questions: ["Which?"] };
    return runner === "claude" && job.attempt === 2 ? QUOTA : undefined;
  });
  await scripted.start("r", flowOf([{ id: "build", agent: "builder" }]));
  await scripted.until("r", "asks", (run) => run.status === "waiting");
  // The session of attempt 1, as its program noted it.
  await scripted.store.noteAttempt("r", "build", 1, { runner: "claude", session: { id: "abcdefgh" } });
  await scripted.answer("r", "question", "", "The first.");
  await scripted.until("r", "is put off", isHeld);
  expect(calls).toEqual(["build#1 claude rung 1", "build#2 claude rung 1"]);
  await scripted.advance(4 * HOUR);
  await scripted.until("r", "is completed", isDone);
  expect(calls.at(-1)).toBe("build#3 claude rung 1");
});
