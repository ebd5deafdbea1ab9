// What must hold after any number of crashes, checked on the store, the machine and the repository, and against the same scenario
// without a crash. Together they are what docs/reliability.md promises as P1 to P7.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { openStored } from "../harness/test-store.ts";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import type { RunEvent } from "../../src/core/run/event.ts";
import { evolve } from "../../src/core/run/evolve.ts";
import { isEnded, type Run } from "../../src/core/run/run.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import type { Store } from "../../src/store/store.ts";
import { readNotes, remoteOf, type Stage } from "./drive.ts";
import { eventMark, sortedJson } from "./event-mark.ts";

export const INVARIANTS = {
  I1: "every acknowledged change is in the store",
  I2: "at most one verdict is accepted per attempt",
  I3: "at most one attempt of a stage lives at a time",
  I4: "no loop exceeds its limit",
  I5: "a completed run has every gate answered by a person",
  I6: "an ended run never goes on",
  I7: "the store is the fold of an unbroken chain of events",
  I8: "no process of the store is left",
  I9: "no worktree is left, and all work is on its branch and pinned",
  I10: "what an attempt used is recorded once, and a stage is put off only so often in a row",
  I11: "what left this machine left once, and every intent is followed by what was seen",
  same: "every run ends as it does without a crash",
  marked: "every attempt that was cut off is marked interrupted and nothing else is",
  told: "everybody who had to be told was told",
  quiet: "the engine met no error of its own",
} as const;

export type Violation = { readonly invariant: keyof typeof INVARIANTS; readonly what: string };

/** What a scenario comes to, told so that two passages of it can be compared. */
export type Ending = Readonly<Record<string, RunEnding>>;
type RunEnding = {
  readonly status: string;
  readonly word: string;
  readonly counters: unknown;
  /** Verdict words of finished attempts, per track: tracks overtake each other freely. */
  readonly verdicts: Readonly<Record<string, readonly string[]>>;
  readonly attempts: Readonly<Record<string, number>>;
  readonly notices: readonly string[];
};

export type Inspection = {
  readonly ending: Ending;
  readonly violations: readonly Violation[];
  readonly interruptions: number;
};

/** Looks at a scenario that has settled. Without `expected` the comparison is left out: it is what others are compared with. */
export async function inspect(stage: Stage, expected?: Ending): Promise<Inspection> {
  const store = await openStored(stage.home);
  if (store === undefined)
    return { ending: {}, interruptions: 0, violations: [{ invariant: "I1", what: "there is no store" }] };
  try {
    const violations: Violation[] = [];
    const ending: Record<string, RunEnding> = {};
    let interruptions = 0;
    for (const { runId } of stage.scenario.runs) {
      const stored = await store.loadRun(runId);
      const events = (await store.events({ after: 0, runId, limit: 100_000 })).map(({ event }) => event);
      if (stored === undefined) {
        violations.push({ invariant: "I1", what: `run ${runId} is not in the store` });
        continue;
      }
      const flow = (await store.loadFlow(stored.run.flowHash)) as unknown as ResolvedFlow;
      ending[runId] = endingOf(stage, stored.run, events);
      interruptions += events.filter(({ type }) => type === "stage.interrupted").length;
      violations.push(
        ...acknowledged(stage, runId, events),
        ...decisions(flow, stored.run, events),
        ...(await cutOff(store, runId, events)),
        ...outward(stage, runId, events),
      );
    }
    for (const { what, runId } of await store.verify()) violations.push({ invariant: "I7", what: `${runId}: ${what}` });
    const work = await store.pendingWork();
    if (work.length > 0) violations.push({ invariant: "told", what: `work is left undone: ${JSON.stringify(work)}` });
    violations.push(...machine(stage), ...repository(stage, ending));
    if (expected !== undefined) violations.push(...compare(expected, ending));
    return { ending, violations, interruptions };
  } finally {
    store.close();
  }
}

function acknowledged(stage: Stage, runId: string, events: readonly RunEvent[]): Violation[] {
  const stored = events.map(eventMark);
  let next = 0;
  for (const line of readNotes(stage, "acknowledged").split("\n")) {
    const [of, ...marks] = line.split(" ");
    if (of !== runId) continue;
    // In order, whole and contiguous: a change is one transaction.
    const at = stored.findIndex(
      (_, index) => index >= next && marks.every((mark, offset) => stored[index + offset] === mark),
    );
    if (at === -1)
      return [
        {
          invariant: "I1",
          what: `${runId}: an acknowledged change of ${marks.length} events is missing after event ${next}`,
        },
      ];
    next = at + marks.length;
  }
  return [];
}

function decisions({ flow }: ResolvedFlow, run: Run, events: readonly RunEvent[]): Violation[] {
  const violations: Violation[] = [];
  const wrong = (invariant: Violation["invariant"], what: string): void =>
    void violations.push({ invariant, what: `${run.id}: ${what}` });
  const finished = new Set<string>();
  const living = new Map<string, number>();
  const settled = new Set<string>();
  let state: Run | undefined;
  for (const event of events) {
    const ended = state !== undefined && isEnded(state);
    state = evolve(state, event);
    if (ended && !isEnded(state)) wrong("I6", `${event.type} after the end`);
    if (ended && event.type.startsWith("stage.")) wrong("I6", `${event.type} after the end`);
    if (event.type === "stage.started") {
      const other = living.get(event.stage);
      if (other !== undefined)
        wrong("I3", `attempt ${event.attempt} of ${event.stage} began while ${other} was running`);
      living.set(event.stage, event.attempt);
    }
    if (event.type === "stage.finished" || event.type === "stage.interrupted" || event.type === "stage.canceled")
      living.delete(event.stage);
    if (event.type === "stage.finished") {
      const key = `${event.stage}/${event.attempt}`;
      if (finished.has(key)) wrong("I2", `${key} finished twice`);
      finished.add(key);
    }
    if (event.type === "usage.recorded") {
      const key = `${event.stage}/${event.attempt}`;
      if (settled.has(key)) wrong("I10", `the usage of ${key} was recorded twice`);
      settled.add(key);
    }
    if (event.type === "stage.postponed" && event.retry > event.of)
      wrong("I10", `${event.stage} was put off ${event.retry} times of ${event.of}`);
    if (event.type === "counter.changed") {
      const max = flow.counters[event.key.split(".").at(-1) ?? ""]?.maxLoops ?? null;
      if (max !== null && event.to > max) wrong("I4", `${event.key} counted to ${event.to} of ${max}`);
    }
  }
  if (run.status === "completed") {
    for (const gate of flow.stages.filter(({ kind }) => kind === "gate")) {
      const answered = events.some(
        (event) => event.type === "gate.answered" && event.stage === gate.id && event.actor === "human:driver",
      );
      if (!answered) wrong("I5", `gate ${gate.id} was passed without an answer`);
    }
  }
  for (const event of events) {
    if (event.type === "gate.answered" && event.actor !== "human:driver")
      wrong("I5", `gate ${event.stage} was answered by ${event.actor}`);
  }
  return violations;
}

/** Each started attempt has exactly one end, and the table of attempts says the same as the events. */
async function cutOff(store: Store, runId: string, events: readonly RunEvent[]): Promise<Violation[]> {
  const ends = new Map<string, string[]>();
  for (const event of events) {
    if (event.type === "stage.started") ends.set(`${event.stage}/${event.attempt}`, []);
    if (event.type === "stage.finished") ends.get(`${event.stage}/${event.attempt}`)?.push("done");
    if (event.type === "stage.interrupted") ends.get(`${event.stage}/${event.attempt}`)?.push("interrupted");
  }
  const records = await store.attempts(runId);
  const violations = records.flatMap(({ stage, attempt, status }): Violation[] => {
    const found = ends.get(`${stage}/${attempt}`) ?? [];
    if (found.length === 1 && found[0] === status) return [];
    return [
      {
        invariant: "marked",
        what: `${runId}: ${stage}/${attempt} is ${status}, its events say ${found.join(", ") || "nothing"}`,
      },
    ];
  });
  if (records.length !== ends.size)
    violations.push({ invariant: "marked", what: `${runId}: ${records.length} attempts, ${ends.size} started` });
  return violations;
}

function outward({ dir, scenario }: Stage, runId: string, events: readonly RunEvent[]): Violation[] {
  if (scenario.remote !== true) return [];
  const violations: Violation[] = [];
  const wrong = (what: string): void => void violations.push({ invariant: "I11", what: `${runId}: ${what}` });
  for (const event of events) {
    if (event.type !== "outward.intended") continue;
    const seen = events.filter((each) => each.type === "outward.seen" && each.key === event.key);
    if (seen.length !== 1) wrong(`${event.key} was seen ${seen.length} times`);
  }
  const done = events.flatMap((event) =>
    event.type === "outward.seen" && event.sight.result === "done" ? [event.sight.commit] : [],
  );
  const log = execFileSync("git", ["-C", remoteOf(dir), "log", "--format=%H", "main", "--", `${runId}.txt`], {
    encoding: "utf8",
  });
  const landed = log.split("\n").filter(Boolean);
  if (landed.length !== 1) wrong(`its work is ${landed.length} times in the target`);
  if (new Set(done).size !== 1 || done[0] !== landed[0])
    wrong(`the events say ${done.join(", ") || "nothing"}, the target has ${landed.join(", ")}`);
  if (events.some((event) => event.type === "warning.raised" && event.code === "landed_late"))
    wrong("it is said to have landed late");
  return violations;
}

function machine(stage: Stage): Violation[] {
  const violations: Violation[] = findMarked(`${storeMark(stage.home)}/`).map(({ pid, marker }) => ({
    invariant: "I8",
    what: `process ${pid} of ${marker}`,
  }));
  for (const { runId } of stage.scenario.runs) {
    const overlaps = readNotes(stage, "script", runId, "overlaps");
    if (overlaps !== "") violations.push({ invariant: "I3", what: `${runId}: ${overlaps.trim()}` });
    const calls = readNotes(stage, "script", runId, "calls").split("\n").filter(Boolean);
    const repeated = calls.find((call, index) => calls.indexOf(call) !== index);
    if (repeated !== undefined)
      violations.push({ invariant: "I3", what: `${runId}: the program of ${repeated} was started twice` });
  }
  const errors = readNotes(stage, "errors");
  if (errors !== "") violations.push({ invariant: "quiet", what: errors.trim() });
  return violations;
}

function repository({ project, home, scenario }: Stage, ending: Ending): Violation[] {
  const git = (...args: string[]): string[] =>
    execFileSync("git", args, { cwd: project, encoding: "utf8" }).split("\n").filter(Boolean);
  const violations: Violation[] = [];
  const worktrees = git("worktree", "list", "--porcelain").filter((line) => line.startsWith("worktree "));
  const kept = existsSync(join(home, "worktrees")) ? readdirSync(join(home, "worktrees")) : [];
  if (worktrees.length !== 1)
    violations.push({ invariant: "I9", what: `worktrees are registered: ${worktrees.slice(1).join(", ")}` });
  if (kept.length > 0) violations.push({ invariant: "I9", what: `folders of worktrees are left: ${kept.join(", ")}` });
  for (const folder of ["clones", "workspaces"]) {
    const left = existsSync(join(home, folder)) ? readdirSync(join(home, folder)) : [];
    if (left.length > 0) violations.push({ invariant: "I9", what: `${folder} are left: ${left.join(", ")}` });
  }
  const refs = git("for-each-ref", "--format=%(refname)");
  for (const { runId, workspace, flow, branch = `passrail/${runId}` } of scenario.runs) {
    if (workspace === "in-place" || ending[runId]?.status !== "completed") continue;
    for (const ref of [`refs/heads/${branch}`, `refs/passrail/keep/${runId}`]) {
      if (!refs.includes(ref)) violations.push({ invariant: "I9", what: `there is no ${ref}` });
    }
    // With a workspace per stage, the work of an attempt that was cut off is pinned beside the branch.
    if (flow === "ticket") continue;
    const hidden = git("rev-list", `refs/passrail/keep/${runId}`, "--not", `refs/heads/${branch}`);
    if (hidden.length > 0)
      violations.push({ invariant: "I9", what: `${runId}: work is only under a hidden ref: ${hidden.join(", ")}` });
  }
  return violations;
}

function endingOf(stage: Stage, run: Run, events: readonly RunEvent[]): RunEnding {
  const verdicts: Record<string, string[]> = {};
  const attempts: Record<string, number> = {};
  for (const event of events) {
    if (event.type !== "stage.finished") continue;
    const { health, verdict, word, cause } = event.outcome;
    const said = `${event.stage}:${word ?? (health === "complete" ? verdict : `${health} (${cause})`)}`;
    (verdicts[event.track] ??= []).push(said);
    attempts[event.stage] = (attempts[event.stage] ?? 0) + 1;
  }
  const told = readNotes(stage, "notices")
    .split("\n")
    .filter((line) => line.startsWith(`${run.id} `));
  return {
    status: run.status,
    word: run.word,
    counters: run.counters,
    verdicts,
    attempts,
    notices: [...new Set(told)].sort(),
  };
}

function compare(expected: Ending, actual: Ending): Violation[] {
  const violations: Violation[] = [];
  for (const [runId, wanted] of Object.entries(expected)) {
    const found = actual[runId];
    for (const key of ["status", "word", "counters", "verdicts", "attempts", "notices"] as const) {
      const [want, got] = [sortedJson(wanted[key]), sortedJson(found?.[key])];
      if (want !== got)
        violations.push({
          invariant: key === "notices" ? "told" : "same",
          what: `${runId}: ${key} ${got}, without a crash ${want}`,
        });
    }
  }
  return violations;
}
