// The behaviour of every store, with any database. An adapter's test calls `storeSuite` with a way to open an empty store.
// The makers below build changes by hand, with `evolve` only: a store must not depend on how decisions are made.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyedLimit, Reservation } from "../core/budget/budget.ts";
import type { Command } from "../core/run/command.ts";
import type { Actor, EventBody, RunEvent } from "../core/run/event.ts";
import { evolve } from "../core/run/evolve.ts";
import type { JsonObject } from "../core/json.ts";
import type { Outcome } from "../core/flow/outcome.ts";
import { handoffPayload } from "../core/view/story.ts";
import type { Carry, InboxItem, Run } from "../core/run/run.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { Change, CommitResult, SpendingRow, Store, StoredRun } from "./store.ts";
import { optional } from "../core/optional.ts";

type OpenedStore = {
  readonly store: Store;
  /** Closes the store and opens the same data again. */
  reopen(): Promise<Store>;
  /** Opens the same data beside the others, as the process that performs. */
  takeOver(): Promise<Store>;
  cleanup(): Promise<void> | void;
};

/** Minute n of a day: events at the same minute have the same time. */
export function minute(n: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
}

export function eventAt(at: string, body: EventBody, actor: Actor = "engine"): RunEvent {
  return { ...body, at, actor };
}

export function carryOf(handoff: number, from = "start"): Carry {
  return { from, reason: "next", names: [], issues: [], questions: [], loop: 0, loopMax: null, handoff };
}

/** The change that these events make of a run. */
export function changeOf(
  before: StoredRun | undefined,
  events: readonly RunEvent[],
  options: { readonly signalIds?: readonly string[]; readonly enqueue?: readonly Command[] } = {},
): Change {
  let run: Run | undefined = before?.run;
  for (const event of events) run = evolve(run, event);
  if (run === undefined) throw new Error("a change needs events");
  const version = before?.version ?? 0;
  return {
    runId: run.id,
    expectedVersion: version,
    signalIds: options.signalIds ?? [],
    events,
    run,
    enqueue: options.enqueue ?? [],
  };
}

export function after(change: Change): StoredRun {
  return { run: change.run, version: change.expectedVersion + change.events.length };
}

/** A new run that is on its way to its first stage. */
export function newRun(id: string, options: { readonly flow?: string; readonly subjectId?: string } = {}): Change {
  const at = minute(0);
  return changeOf(undefined, [
    eventAt(at, {
      type: "run.created",
      id,
      flow: options.flow ?? "story",
      flowHash: "f1",
      subject: { id: options.subjectId ?? `v0.1:${id}`, title: `Story ${id} "ä" 😀`, body: "Do it." },
      facts: { input: "x" },
      word: "pending",
    }),
    eventAt(at, handoffCreated(1, null, "analyst", 0)),
    eventAt(at, { type: "stage.ready", track: "main", stage: "analyst", attempt: 1, carry: carryOf(1) }),
  ]);
}

function handoffCreated(number: number, from: string | null, to: string | null, fromAttempt: number): EventBody {
  return {
    type: "handoff.created",
    track: "main",
    number,
    fromStage: from,
    fromAgent: from ?? "orchestrator",
    fromAttempt,
    toStage: to,
    toAgent: to,
    loop: 0,
  };
}

function outcomeOf(verdict: "pass" | "revise", payload?: JsonObject): Outcome {
  return {
    health: "complete",
    verdict,
    issues: verdict === "pass" ? [] : ["a finding"],
    questions: [],
    warnings: [],
    ...optional({ payload }),
  };
}

/** The usual handoff: one stage ends, the next begins. Six events. */
export function handOver(
  before: StoredRun,
  options: { readonly from: string; readonly to: string; readonly at?: string; readonly signalId?: string },
): Change {
  const { from, to, at = minute(before.version), signalId } = options;
  const number = before.run.handoffs + 1;
  const attempt = before.run.stages[from]?.attempts ?? 1;
  const nextAttempt = (before.run.stages[to]?.attempts ?? 0) + 1;
  const finished = { type: "stage.finished", track: "main", stage: from, attempt } as const;
  return changeOf(
    before,
    [
      eventAt(
        at,
        { ...finished, outcome: outcomeOf("pass", { summary: `${from} did it`, files: ["a.ts"] }) },
        `agent:${from}`,
      ),
      eventAt(at, handoffCreated(number, from, to, attempt)),
      eventAt(at, {
        type: "stage.ready",
        track: "main",
        stage: to,
        attempt: nextAttempt,
        carry: carryOf(number, from),
      }),
      eventAt(at, { type: "status.changed", from: before.run.word, to: `${to}-ing` }),
      eventAt(at, { type: "stage.started", track: "main", stage: to, attempt: nextAttempt }),
      eventAt(at, { type: "handoff.accepted", track: "main", number }),
    ],
    { signalIds: signalId === undefined ? [] : [signalId] },
  );
}

const gate: InboxItem = {
  number: 1,
  stage: "ship",
  who: "lead",
  openedAt: minute(40),
  kind: "gate",
  answers: ["yes", "no"],
};

/** A run from its start to its end, one change per decision: hand over, send back, interrupt, ask a person, complete. */
export function wholeRun(id: string, subjectId?: string): readonly Change[] {
  const changes: Change[] = [newRun(id, optional({ subjectId }))];
  const add = (...events: readonly RunEvent[]) => {
    const before = changes.at(-1);
    changes.push(changeOf(before && after(before), events, { signalIds: [`${id}-${changes.length}`] }));
  };
  const main = { track: "main" } as const;
  add(
    eventAt(minute(1), { type: "stage.started", ...main, stage: "analyst", attempt: 1 }),
    eventAt(minute(1), { type: "handoff.accepted", ...main, number: 1 }),
  );
  changes.push(
    handOver(after(changes[1] as Change), { from: "analyst", to: "coder", at: minute(10), signalId: `${id}-over` }),
  );
  add(
    eventAt(minute(20), { type: "stage.interrupted", ...main, stage: "coder", attempt: 1, cause: "killed" }),
    eventAt(minute(20), { type: "stage.ready", ...main, stage: "coder", attempt: 2, carry: carryOf(2, "analyst") }),
  );
  add(eventAt(minute(21), { type: "stage.started", ...main, stage: "coder", attempt: 2 }));
  // The coder sends the work back: its own handoff is rejected in the commit in which it finishes.
  add(
    eventAt(minute(22), { type: "stage.finished", ...main, stage: "coder", attempt: 2, outcome: outcomeOf("revise") }),
    eventAt(minute(22), { type: "handoff.rejected", ...main, number: 2, reason: "the plan is unclear" }),
    eventAt(minute(22), handoffCreated(3, "coder", "analyst", 2)),
    eventAt(minute(22), { type: "stage.ready", ...main, stage: "analyst", attempt: 2, carry: carryOf(3, "coder") }),
  );
  add(
    eventAt(minute(30), { type: "stage.canceled", ...main, stage: "analyst", attempt: 2, reason: "skipped" }),
    eventAt(minute(30), { type: "handoff.withdrawn", ...main, number: 3, reason: "skipped" }),
    eventAt(minute(40), { type: "gate.opened", ...main, item: gate, carry: carryOf(0) }),
    eventAt(minute(40), { type: "run.waiting", for: ["gate"] }),
  );
  add(
    eventAt(
      minute(50),
      { type: "gate.answered", ...main, stage: "ship", number: 1, answer: "yes", comment: "" },
      "human:ada",
    ),
    eventAt(minute(50), { type: "run.resumed" }),
    eventAt(minute(50), { type: "status.changed", from: "coder-ing", to: "Shipped" }),
    eventAt(minute(50), { type: "run.completed" }),
  );
  return changes;
}

type Metering = {
  readonly usd: number;
  readonly tokens: number;
  readonly limits?: readonly KeyedLimit[];
  readonly ticket?: string;
  readonly at?: string;
};

/** The first stage of a new run starts, with this reservation. */
export function startMetered(
  before: Change,
  { usd, tokens, limits = [], ticket = "T", at = minute(1) }: Metering,
): Change {
  const where = { stage: "analyst", attempt: 1 };
  const reserved = { agent: "analyst", runner: "claude", model: "opus", usd, tokens, ticket };
  const change = changeOf(after(before), [eventAt(at, { type: "stage.started", track: "main", ...where, reserved })]);
  const reservation: Reservation = { ...where, ...reserved, limits };
  return { ...change, signalIds: ["start"], reserve: [reservation] };
}

/** The usage settles the reservation. */
function recordUsage(before: Change, usage: Partial<Usage>, model = "opus-4"): Change {
  const known: Usage = { usd: null, inputTokens: null, outputTokens: null, cachedTokens: null, ...usage };
  const attempt = { track: "main", stage: "analyst", attempt: 1, agent: "analyst", ticket: "T" };
  return changeOf(after(before), [
    eventAt(minute(3), { type: "usage.recorded", ...attempt, runner: "claude", model, usage: known }),
  ]);
}

/** Commits one after the other; all must go well. */
export async function commitAll(store: Store, changes: readonly Change[]): Promise<void> {
  for (const change of changes) expect(await store.commit(change)).toMatchObject({ type: "ok" });
}

export function storeSuite(name: string, open: () => Promise<OpenedStore>): void {
  describe(`the store contract: ${name}`, () => {
    let opened: OpenedStore;
    let store: Store;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });

    afterEach(async () => {
      await opened.cleanup();
    });

    test("a committed run can be loaded as it was, with its version", async () => {
      const change = newRun("a");
      expect(await store.commit(change)).toEqual({ type: "ok", seq: 3, version: 3 });
      const stored = await store.loadRun("a");
      expect(stored?.version).toBe(3);
      expect(JSON.stringify(stored?.run)).toBe(JSON.stringify(change.run));
      expect(await store.loadRun("b")).toBeUndefined();
    });

    test("a change that was decided upon an old version conflicts and changes nothing", async () => {
      const first = newRun("a");
      await commitAll(store, [first, handOver(after(first), { from: "analyst", to: "coder" })]);
      const before = await store.loadRun("a");
      const late = handOver(after(first), { from: "analyst", to: "coder", signalId: "late" });
      expect(await store.commit(late)).toEqual({ type: "conflict" });
      expect(await store.commit(newRun("a"))).toEqual({ type: "conflict" });
      const unknown = { ...late, runId: "z", run: { ...late.run, id: "z" } };
      expect(await store.commit(unknown)).toEqual({ type: "conflict" });
      expect(await store.loadRun("a")).toEqual(before);
      expect(await store.lastSeq()).toBe(9);
      expect(await store.verify()).toEqual([]);
    });

    test("a repeated signal id is a duplicate within its run, also beside new ids, and changes nothing", async () => {
      const [a, b] = [newRun("a"), newRun("b")];
      const over = handOver(after(a), { from: "analyst", to: "coder", signalId: "s1" });
      await commitAll(store, [a, b, over]);
      expect(await store.commit(over)).toEqual({ type: "duplicate" });
      const again = handOver(after(over), { from: "coder", to: "reviewer" });
      expect(await store.commit({ ...again, signalIds: ["s2", "s1"] })).toEqual({ type: "duplicate" });
      expect((await store.loadRun("a"))?.version).toBe(9);
      // Neither has the new id been used up, nor does the other run know the old one.
      expect(await store.commit({ ...again, signalIds: ["s2"] })).toMatchObject({ type: "ok" });
      const other = handOver(after(b), { from: "analyst", to: "coder", signalId: "s1" });
      expect(await store.commit(other)).toMatchObject({ type: "ok" });
    });

    test("a change that breaks the port's rules is a bug and is thrown", async () => {
      const change = newRun("a");
      await expect(store.commit({ ...change, events: [] })).rejects.toThrow("no events");
      await expect(store.commit({ ...change, runId: "b" })).rejects.toThrow("carries run a");
      await expect(store.commit({ ...change, signalIds: ["x", "x"] })).rejects.toThrow("repeats a signal id");
      expect(await store.lastSeq()).toBe(0);
    });

    test("R-000-16: of 100 concurrent commits of which 3 conflict, 97 are stored whole and 3 not at all", async () => {
      const runs = Array.from({ length: 100 }, (_, index) => newRun(`r${index}`));
      const started = await Promise.all(runs.map((change) => store.commit(change)));
      expect(started.every((result) => result.type === "ok")).toBe(true);
      const conflicting = [7, 50, 99];
      const changes = runs.map((change, index) => {
        const over = handOver(after(change), { from: "analyst", to: "coder", signalId: "over" });
        return conflicting.includes(index) ? { ...over, expectedVersion: 2 } : over;
      });
      const results: readonly CommitResult[] = await Promise.all(changes.map((change) => store.commit(change)));
      const conflicts = results.flatMap((result, index) => (result.type === "conflict" ? [index] : []));
      expect(conflicts).toEqual(conflicting);
      expect(await store.lastSeq()).toBe(300 + 97 * 6);
      expect((await store.loadRun("r7"))?.version).toBe(3);
      expect((await store.loadRun("r8"))?.version).toBe(9);
      expect(await store.handoffs("r7")).toHaveLength(1);
      expect(await store.verify()).toEqual([]);
    });

    test("of two concurrent commits upon the same version one wins and the other conflicts", async () => {
      const first = newRun("a");
      await commitAll(store, [first]);
      const left = handOver(after(first), { from: "analyst", to: "coder", signalId: "left" });
      const right = handOver(after(first), { from: "analyst", to: "writer", signalId: "right" });
      const results = await Promise.all([store.commit(left), store.commit(right), store.commit(left)]);
      expect(results.map((result) => result.type)).toEqual(["ok", "conflict", "duplicate"]);
    });

    test("one change that cannot be stored is rejected alone; its companions are stored", async () => {
      const first = newRun("a");
      await commitAll(store, [first]);
      const bad = changeOf(after(first), [eventAt(minute(1), handoffCreated(1, null, "again", 0))]);
      const results = await Promise.allSettled([
        store.commit(newRun("b")),
        store.commit(bad),
        store.commit(newRun("c")),
      ]);
      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect((await store.loadRun("a"))?.version).toBe(3);
      expect((await store.listRuns({ limit: 10 })).map((run) => run.id)).toEqual(["c", "b", "a"]);
      expect(await store.verify()).toEqual([]);
    });

    test("events come in order of sequence, page by page, of all runs or of one", async () => {
      const [a, b] = [newRun("a"), newRun("b")];
      await commitAll(store, [a, b, handOver(after(a), { from: "analyst", to: "coder" })]);
      const all = await store.events({ after: 0, limit: 100 });
      expect(all.map((each) => each.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(all[0]?.event).toEqual(a.events[0]);
      const page = await store.events({ after: 3, limit: 4 });
      expect(page.map((each) => [each.seq, each.runId, each.version])).toEqual([
        [4, "b", 1],
        [5, "b", 2],
        [6, "b", 3],
        [7, "a", 4],
      ]);
      const ofRun = await store.events({ after: 2, runId: "a", limit: 3 });
      expect(ofRun.map((each) => [each.seq, each.version, each.event.type])).toEqual([
        [3, 3, "stage.ready"],
        [7, 4, "stage.finished"],
        [8, 5, "handoff.created"],
      ]);
      expect(await store.events({ after: 12, limit: 10 })).toEqual([]);
      // A page may end, and the next one begin, in the middle of a commit.
      const single = await Promise.all(all.map(({ seq }) => store.events({ after: seq - 1, limit: 1 })));
      expect(single.flat()).toEqual(all);
      const one = await Promise.all([0, 1, 2, 3, 7].map((from) => store.events({ after: from, runId: "a", limit: 1 })));
      expect(one.flat().map(({ seq }) => seq)).toEqual([1, 2, 3, 7, 8]);
    });

    test("R-X-04: attempts follow from the events of a whole run", async () => {
      await commitAll(store, wholeRun("a"));
      const attempts = await store.attempts("a");
      expect(attempts.map((each) => [each.stage, each.attempt, each.status, each.startedAt, each.endedAt])).toEqual([
        ["analyst", 1, "done", minute(1), minute(10)],
        ["coder", 1, "interrupted", minute(10), minute(20)],
        ["coder", 2, "done", minute(21), minute(22)],
        ["analyst", 2, "canceled", null, minute(30)],
      ]);
      expect(attempts[0]).toMatchObject({
        readyAt: minute(0),
        track: "main",
        outcome: { verdict: "pass", payload: { summary: "analyst did it" } },
        facts: {},
      });
      expect(attempts[1]?.outcome).toBeNull();
    });

    test("R-003-05: handoffs follow from the events; processedAt is null until accepted, rejected or withdrawn", async () => {
      const changes = wholeRun("a");
      await commitAll(store, changes.slice(0, 1));
      expect(await store.handoffs("a")).toMatchObject([{ number: 1, state: "pending", processedAt: null }]);
      await commitAll(store, changes.slice(1, 2));
      expect(await store.handoffs("a")).toMatchObject([{ number: 1, state: "accepted", processedAt: minute(1) }]);
      await commitAll(store, changes.slice(2, 3));
      expect(await store.handoffs("a")).toMatchObject([
        { number: 1, state: "done", processedAt: minute(1) },
        { number: 2, state: "accepted", processedAt: minute(10) },
      ]);
      await commitAll(store, changes.slice(3));
      const handoffs = await store.handoffs("a");
      expect(
        handoffs.map((each) => [each.id, each.number, each.state, each.rejectionReason, each.processedAt]),
      ).toEqual([
        [1, 1, "done", null, minute(1)],
        [2, 2, "rejected", "the plan is unclear", minute(22)],
        [3, 3, "withdrawn", "skipped", minute(30)],
      ]);
      expect(handoffs[1]).toMatchObject({
        subjectId: "v0.1:a",
        fromStage: "analyst",
        fromAgent: "analyst",
        fromAttempt: 1,
        toStage: "coder",
        toAgent: "coder",
        createdAt: minute(10),
      });
    });

    test("a handoff whose attempt was interrupted is done when the next attempt finishes", async () => {
      const changes = wholeRun("a").slice(0, 5);
      const last = changes.at(-1) as Change;
      await commitAll(store, [...changes, handOver(after(last), { from: "coder", to: "reviewer", at: minute(23) })]);
      expect((await store.handoffs("a")).map((each) => each.state)).toEqual(["done", "done", "accepted"]);
    });

    test("the inbox holds what waits for a person, oldest first, until it is answered, withdrawn or moot", async () => {
      const open = (id: string, at: number, kind: "gate" | "question" | "escalation"): Change => {
        const base = { number: 1, stage: "ship", who: "lead", openedAt: minute(at) };
        const opening = { track: "main", carry: carryOf(0) };
        const created = newRun(id);
        const item: EventBody =
          kind === "gate"
            ? { type: "gate.opened", ...opening, item: { ...base, kind, answers: ["yes"] } }
            : kind === "question"
              ? {
                  type: "question.asked",
                  ...opening,
                  item: { ...base, kind, questions: ["why?"], goto: "coder", key: "k" },
                }
              : {
                  type: "escalation.opened",
                  ...opening,
                  item: { ...base, kind, reason: "spent", issues: [], choices: { again: "coder" }, again: "coder" },
                };
        return changeOf(undefined, [...created.events, eventAt(minute(at), item)]);
      };
      const opened = [
        open("late", 9, "gate"),
        open("early", 3, "question"),
        open("mid", 5, "escalation"),
        open("old", 1, "gate"),
      ];
      await commitAll(store, opened);
      const waiting = async () => (await store.inbox()).map((each) => each.runId);
      expect(await waiting()).toEqual(["old", "early", "mid", "late"]);
      expect((await store.inbox())[1]).toEqual({
        runId: "early",
        number: 2,
        item: openItem(opened[1] as Change),
        flow: "story",
        subject: { id: "v0.1:early", title: 'Story early "ä" 😀' },
      });
      const close = async (index: number, body: EventBody) => {
        await commitAll(store, [changeOf(after(opened[index] as Change), [eventAt(minute(10), body, "human:ada")])]);
      };
      const where = { track: "main", stage: "ship", number: 1 };
      await close(1, { type: "question.answered", ...where, answer: "so" });
      expect(await waiting()).toEqual(["old", "mid", "late"]);
      await close(2, { type: "escalation.resolved", ...where, choice: "again", note: "" });
      expect(await waiting()).toEqual(["old", "late"]);
      await close(0, { type: "item.withdrawn", track: "main", number: 1, reason: "moot" });
      expect(await waiting()).toEqual(["old"]);
      await close(3, { type: "run.canceled", reason: "enough" });
      expect(await waiting()).toEqual([]);
      expect(await store.verify()).toEqual([]);
    });

    test("runs are listed newest first, by key, and filtered by status, flow or the source's word", async () => {
      for (const index of [1, 2, 3, 4, 5])
        await commitAll(store, [newRun(`r${index}`, index === 2 ? { flow: "brain" } : {})]);
      await commitAll(store, wholeRun("done"));
      const ids = async (filter: Parameters<Store["listRuns"]>[0]) =>
        (await store.listRuns(filter)).map((run) => run.id);
      expect(await ids({ limit: 3 })).toEqual(["done", "r5", "r4"]);
      expect(await ids({ limit: 3, before: 4 })).toEqual(["r3", "r2", "r1"]);
      expect(await ids({ limit: 10, status: "completed" })).toEqual(["done"]);
      expect(await ids({ limit: 10, flow: "brain" })).toEqual(["r2"]);
      expect(await ids({ limit: 10, word: "Shipped" })).toEqual(["done"]);
      expect(await ids({ limit: 10, word: "completed" })).toEqual(["done"]);
      expect(await ids({ limit: 2, word: "pending", before: 5, flow: "story" })).toEqual(["r4", "r3"]);
      expect(await ids({ limit: 10, word: "pending", flow: "brain" })).toEqual(["r2"]);
      expect(await ids({ limit: 10, word: "running", flow: "brain" })).toEqual(["r2"]);
      expect(await ids({ limit: 10, word: "completed", status: "completed" })).toEqual(["done"]);
      expect(await ids({ limit: 10, word: "completed", status: "running" })).toEqual([]);
      expect(await ids({ limit: 10, word: "nothing" })).toEqual([]);
      expect(await ids({ limit: 2, text: "STORY R" })).toEqual(["r5", "r4"]);
      expect(await ids({ limit: 10, text: "v0.1:r2", flow: "brain" })).toEqual(["r2"]);
      expect(await ids({ limit: 10, text: "_tory" })).toEqual([]);
      expect(await ids({ limit: 10, text: "%" })).toEqual([]);
      expect(await store.countRuns()).toEqual({ running: 5, waiting: 0, stopped: 0, completed: 1, canceled: 0 });
      expect((await store.listRuns({ limit: 1 }))[0]).toEqual({
        id: "done",
        number: 6,
        flow: "story",
        subject: { id: "v0.1:done", title: 'Story done "ä" 😀' },
        status: "completed",
        word: "Shipped",
        stage: null,
        createdAt: minute(0),
        updatedAt: minute(50),
      });
      expect((await store.listRuns({ limit: 1, before: 6 }))[0]?.stage).toBe("analyst");
    });

    test("a word that is one run's status and another's own word finds both, newest first", async () => {
      const worded = (id: string, word: string) => {
        const created = newRun(id);
        return { ...created, run: { ...created.run, word } };
      };
      await commitAll(store, [worded("a", "busy"), worded("b", "running"), worded("c", "busy")]);
      const ids = async (filter: Parameters<Store["listRuns"]>[0]) =>
        (await store.listRuns(filter)).map((run) => run.id);
      expect(await ids({ limit: 10, word: "running" })).toEqual(["c", "b", "a"]);
      expect(await ids({ limit: 2, word: "running", before: 3 })).toEqual(["b", "a"]);
      expect(await ids({ limit: 1, word: "busy" })).toEqual(["c"]);
    });

    test("subjects are listed by their newest run, each once, and by key", async () => {
      for (const [id, subjectId] of [
        ["r1", "A"],
        ["r2", "B"],
        ["r3", "A"],
        ["r4", "C"],
        ["r5", "A"],
      ] as const)
        await commitAll(store, [newRun(id, { subjectId })]);
      const list = async (filter: Parameters<Store["listSubjects"]>[0]) =>
        (await store.listSubjects(filter)).map(({ newest, runs }) => [newest.subject.id, newest.id, runs]);
      expect(await list({ limit: 2 })).toEqual([
        ["A", "r5", 3],
        ["C", "r4", 1],
      ]);
      expect(await list({ limit: 10, before: 4 })).toEqual([["B", "r2", 1]]);
      expect(await list({ limit: 10, id: "A" })).toEqual([["A", "r5", 3]]);
      expect(await list({ limit: 10, id: "%" })).toEqual([]);
      expect(await list({ limit: 10, flow: "nowhere" })).toEqual([]);
      expect((await list({ limit: 10, open: true })).map(([id]) => id)).toEqual(["A", "C", "B"]);
      expect(await list({ limit: 10, open: false })).toEqual([]);
      expect(await store.listSubjects({ id: "A", limit: 1 })).toMatchObject([{ usd: 0, unknownUsd: 0 }]);
      expect((await store.listRuns({ subject: "A", limit: 10 })).map(({ id }) => id)).toEqual(["r5", "r3", "r1"]);
    });

    test("runs are found by the beginning of their id or number, at most ten", async () => {
      const ids = Array.from({ length: 123 }, (_, index) => (index < 12 ? `ab${index}` : `c%_${index}`));
      await Promise.all(ids.map((id) => store.commit(newRun(id))));
      const found = async (prefix: string) => store.findRuns(prefix);
      expect((await found("ab1")).map((run) => run.id)).toEqual(["ab1", "ab10", "ab11"]);
      expect((await found("12")).map((run) => run.number)).toEqual([12, 120, 121, 122, 123]);
      expect(await found("c%")).toHaveLength(10);
      expect(await found("%")).toEqual([]);
      expect(await found("999")).toEqual([]);
    });

    test("active runs are those that run, the longest untouched first", async () => {
      const [a, b, c] = [newRun("a"), newRun("b"), newRun("c")];
      await commitAll(store, [a, b, c, ...wholeRun("done"), handOver(after(a), { from: "analyst", to: "coder" })]);
      expect(await store.activeRuns()).toEqual(["b", "c", "a"]);
    });

    test("work rows last until they are settled, in the order in which they came", async () => {
      const notify: Command = { type: "notify", key: "k", to: "lead", event: "gate", text: "look", item: 1 };
      const created = newRun("a");
      await commitAll(store, [{ ...created, enqueue: [notify, { type: "release-workspace" }] }]);
      const work = await store.pendingWork();
      expect(work.map((each) => [each.runId, each.command])).toEqual([
        ["a", notify],
        ["a", { type: "release-workspace" }],
      ]);
      await store.settleWork(work[0]?.id ?? -1);
      await store.settleWork(work[0]?.id ?? -1);
      expect(await store.pendingWork()).toEqual(work.slice(1));
      // A change that does not go through brings no work.
      expect(await store.commit({ ...created, enqueue: [notify] })).toEqual({ type: "conflict" });
      expect(await store.pendingWork()).toHaveLength(1);
    });

    test("facts noted about an attempt are joined key by key, the last one wins", async () => {
      await commitAll(store, [newRun("a")]);
      await Promise.all([
        store.noteAttempt("a", "analyst", 1, { pid: 7, paths: { prompt: "p" } }),
        store.noteAttempt("a", "analyst", 1, { exit: 0, pid: 8, nothing: null }),
      ]);
      expect((await store.attempts("a"))[0]?.facts).toEqual({ pid: 8, paths: { prompt: "p" }, exit: 0, nothing: null });
      await expect(store.noteAttempt("a", "coder", 1, { pid: 1 })).rejects.toThrow("no attempt 1 of stage coder");
      expect(await store.verify()).toEqual([]);
    });

    test("a flow is kept by its hash; saving it again changes nothing", async () => {
      await store.saveFlow(flowNamed("one"));
      await store.saveFlow(flowNamed("two"));
      expect(await store.loadFlow("h")).toEqual(flowNamed("one"));
      expect(await store.loadFlow("x")).toBeUndefined();
    });

    test("odd text survives: half characters, NUL, long bodies, keys of prototypes", async () => {
      const created = newRun("a", { subjectId: "odd\u0000\ud800id" });
      const odd = JSON.parse(
        '{"__proto__":{"x":1},"constructor":"\\u0000","half":"\\ud800","10":1,"2":2}',
      ) as JsonObject;
      const big = "x".repeat(1_000_000);
      const over = handOver(after(created), { from: "analyst", to: "coder" });
      const [finished, ...rest] = over.events;
      if (finished?.type !== "stage.finished") throw new Error("the first event of a handover");
      const outcome = { ...finished.outcome, summary: big, payload: odd };
      const change = changeOf(after(created), [{ ...finished, actor: "agent:\ud800", outcome }, ...rest]);
      await commitAll(store, [created, change]);
      const stored = (await store.events({ after: 3, limit: 1 }))[0]?.event;
      expect(JSON.stringify(stored?.type === "stage.finished" ? stored.outcome : null)).toBe(JSON.stringify(outcome));
      expect((await store.attempts("a"))[0]?.outcome?.["summary"]).toHaveLength(1_000_000);
      expect(await store.verify()).toEqual([]);
    });

    test("R-X-12: a request is claimed once; a repeat gets the answer, also after the store was opened again", async () => {
      const key = { caller: "operator", key: "k1" };
      const claim = { ...key, request: "hash", at: minute(0), forgetBefore: minute(-60) };
      expect(await store.claimRequest(claim)).toEqual({ type: "new" });
      expect(await store.claimRequest(claim)).toEqual({ type: "unanswered" });
      expect(await store.claimRequest({ ...claim, request: "other" })).toEqual({ type: "reused" });
      expect(await store.claimRequest({ ...claim, caller: "k2" })).toEqual({ type: "new" });
      await store.answerRequest(key, { ok: true, value: { text: "\u0000 odd" } });
      // An answered item is not released any more.
      await store.releaseRequest(key);
      store = await opened.reopen();
      expect(await store.claimRequest(claim)).toEqual({
        type: "answered",
        answer: { ok: true, value: { text: "\u0000 odd" } },
      });
    });

    test("R-X-12: a claim that was released or is too old is forgotten; of very many the oldest go", async () => {
      const claim = (key: string, at: number) => ({
        caller: "operator",
        key,
        request: "hash",
        at: minute(at),
        forgetBefore: minute(at - 60),
      });
      await store.claimRequest(claim("a", 0));
      await store.releaseRequest({ caller: "operator", key: "a" });
      expect(await store.claimRequest(claim("a", 1))).toEqual({ type: "new" });
      expect(await store.claimRequest(claim("b", 62))).toEqual({ type: "new" });
      expect(await store.claimRequest(claim("a", 62))).toEqual({ type: "new" });
      await Promise.all(Array.from({ length: 10_100 }, (_, index) => store.claimRequest(claim(`many-${index}`, 63))));
      expect(await store.claimRequest(claim("b", 63))).toEqual({ type: "new" });
      expect(await store.claimRequest(claim("many-10099", 63))).toEqual({ type: "unanswered" });
    });

    test("a result of a check is found by its key, replaced by a later one, and forgotten after 30 days or with its run", async () => {
      const day = (number: number): string => new Date(Date.parse(minute(0)) + number * 86_400_000).toISOString();
      const check = (key: string, at: string, runId = "a") => ({
        key,
        command: "npm test",
        exitCode: 1,
        tree: "t1",
        startedAt: at,
        endedAt: at,
        log: "check-test.log",
        excerpt: "\u0000 odd",
        by: { runId, stage: "build", attempt: 1, at },
      });
      await store.saveCheck(check("k1", day(0)));
      await store.saveCheck({ ...check("k1", day(1)), exitCode: 0 });
      await store.saveCheck(check("k2", day(1), "b"));
      store = await opened.reopen();
      expect(await store.findCheck("k1", day(2))).toEqual({ ...check("k1", day(1)), exitCode: 0 });
      expect(await store.findCheck("k1", day(32))).toBeUndefined();
      await store.saveCheck(check("k3", day(32)));
      expect(await store.findCheck("k2", day(2))).toBeUndefined();
      expect(await store.findCheck("other", day(2))).toBeUndefined();
      await commitAll(store, wholeRun("c"));
      await store.saveCheck(check("k4", day(32), "c"));
      const subject = (await store.loadRun("c"))?.run.subject.id ?? "";
      expect(await store.deleteSubject(subject)).toMatchObject({ type: "deleted" });
      expect(await store.findCheck("k4", day(32))).toBeUndefined();
      expect(await store.findCheck("k3", day(32))).toBeDefined();
    });

    test("a hold is kept by its runner and account until it is lifted, whatever its time", async () => {
      const quota = {
        runner: "claude",
        account: "",
        cause: "quota",
        reason: "out until 14:05 \u0000 odd",
        since: "2026-01-01T00:00:00.000Z",
        until: "2026-01-01T03:00:00.000Z",
        runId: "a",
        by: "engine",
      };
      const person = { ...quota, runner: "*", cause: "paused", until: null, runId: null, by: "human:ann" };
      expect(await store.holds()).toEqual([]);
      await store.setHold(quota);
      await store.setHold({ ...quota, account: "work" });
      await store.setHold(person);
      await store.setHold({ ...quota, cause: "rate_limit" });
      store = await opened.reopen();
      const kept = await store.holds();
      expect(kept.map(({ runner, account, cause }) => [runner, account, cause])).toEqual([
        ["*", "", "paused"],
        ["claude", "", "rate_limit"],
        ["claude", "work", "quota"],
      ]);
      expect(kept[0]).toEqual({ ...person, reason: kept[0]?.reason });
      expect(kept[1]?.reason).toContain("out until 14:05");
      expect(await store.liftHold({ runner: "claude", account: "work" })).toBe(true);
      expect(await store.liftHold({ runner: "claude", account: "work" })).toBe(false);
      expect((await store.holds()).map(({ runner }) => runner)).toEqual(["*", "claude"]);
    });

    test("nothing is lost when the store is opened again", async () => {
      await commitAll(store, wholeRun("a"));
      await commitAll(store, [{ ...newRun("b"), enqueue: [{ type: "release-workspace" }] }]);
      await store.saveFlow(flowNamed("one"));
      await store.noteAttempt("b", "analyst", 1, { pid: 7 });
      const everything = async (from: Store) => ({
        runs: await from.listRuns({ limit: 10 }),
        run: await from.loadRun("a"),
        events: await from.events({ after: 0, limit: 100 }),
        attempts: await from.attempts("b"),
        handoffs: await from.handoffs("a"),
        inbox: await from.inbox(),
        work: await from.pendingWork(),
        flow: await from.loadFlow("h"),
      });
      const before = await everything(store);
      store = await opened.reopen();
      expect(await everything(store)).toEqual(before);
      expect(await store.verify()).toEqual([]);
      const next = newRun("c");
      expect(await store.commit(next)).toMatchObject({ type: "ok", seq: before.events.length + 3 });
    });

    test("what was asked for before closing is still stored, what is asked for later is refused", async () => {
      const pending = store.commit(newRun("a"));
      store.close();
      expect(await pending).toMatchObject({ type: "ok" });
      await expect(store.commit(newRun("b"))).rejects.toMatchObject({ code: "store_closed" });
      await expect(store.loadRun("a")).rejects.toMatchObject({ code: "store_closed" });
      store = await opened.reopen();
      expect((await store.loadRun("a"))?.version).toBe(3);
    });

    const dayLimit = (usd: number | null, tokens: number | null = null): readonly KeyedLimit[] => [
      { scope: "day", key: "2026-01-01", usd, tokens },
    ];

    test("of ten starts at once the limit lets three through, whatever shares a transaction; the others store nothing", async () => {
      const runs = Array.from({ length: 10 }, (_, index) => newRun(`r${index}`));
      await Promise.all(runs.map((change) => store.commit(change)));
      const results = await Promise.all(
        runs.map((run) => store.commit(startMetered(run, { usd: 0.1, tokens: 10, limits: dayLimit(0.3) }))),
      );
      expect(results.map(({ type }) => type)).toEqual([...Array(3).fill("ok"), ...Array(7).fill("over_budget")]);
      expect(results[9]).toEqual({
        type: "over_budget",
        stage: "analyst",
        attempt: 1,
        scope: "day",
        key: "2026-01-01",
        unit: "usd",
        used: 0.3,
        limit: 0.3,
        needed: 0.1,
      });
      expect((await store.loadRun("r9"))?.version).toBe(3);
      expect(await store.spending({ by: "day" })).toMatchObject([{ key: "2026-01-01", attempts: 3, assumedUsd: 0.3 }]);
      expect(await store.verify()).toEqual([]);
    });

    test("what was refused can start once there is room, with the same signal", async () => {
      const [a, b] = [newRun("a"), newRun("b")];
      const first = startMetered(a, { usd: 2, tokens: 0, limits: dayLimit(2.5) });
      await commitAll(store, [a, b, first]);
      const second = startMetered(b, { usd: 2, tokens: 0, limits: dayLimit(2.5) });
      expect(await store.commit(second)).toMatchObject({ type: "over_budget", used: 2 });
      await commitAll(store, [recordUsage(first, { usd: 0.25 })]);
      expect(await store.commit(second)).toMatchObject({ type: "ok" });
      expect(await store.commit(second)).toEqual({ type: "duplicate" });
      expect(await store.verify()).toEqual([]);
    });

    test("every scope and both units are checked, and the sum counts what one change starts at once", async () => {
      const a = newRun("a");
      await commitAll(store, [a]);
      const limit = (scope: KeyedLimit["scope"], key: string, usd: number | null, tokens: number | null) =>
        startMetered(a, { usd: 1, tokens: 100, limits: [{ scope, key, usd, tokens }] });
      expect(await store.commit(limit("run", "a", 0.99, null))).toMatchObject({ scope: "run", unit: "usd" });
      expect(await store.commit(limit("ticket", "T", null, 99))).toMatchObject({ scope: "ticket", unit: "tokens" });
      expect(await store.commit(limit("day", "2026-01-01", 0, null))).toMatchObject({ type: "over_budget", limit: 0 });
      const free = startMetered(a, { usd: 0, tokens: 0, limits: dayLimit(0, null) });
      expect(await store.commit(free)).toMatchObject({ type: "over_budget", needed: 0 });
      const start = startMetered(a, { usd: 1, tokens: 100, limits: dayLimit(1.5) });
      const [reservation] = start.reserve as readonly [Reservation];
      const both = { ...start, reserve: [reservation, { ...reservation, stage: "coder" }] };
      expect(await store.commit(both)).toMatchObject({ type: "over_budget", stage: "coder", used: 1 });
      expect((await store.loadRun("a"))?.version).toBe(3);
      expect(await store.commit(start)).toEqual({ type: "ok", seq: 4, version: 4 });
    });

    test("what is booked under a key counts reservations and reports, and the part of one attempt is known", async () => {
      const [a, b] = [newRun("a"), newRun("b")];
      const starts = [startMetered(a, { usd: 1, tokens: 1000 }), startMetered(b, { usd: 2, tokens: 500 })];
      await commitAll(store, [a, b, ...starts]);
      const keys = [
        { scope: "day", key: "2026-01-01" },
        { scope: "run", key: "a" },
        { scope: "run", key: "nobody" },
      ] as const;
      const ask = (runId: string) => store.booked({ keys, runId, stage: "analyst", attempt: 1 });
      const [day, own, none] = [
        { usd: 3, tokens: 1500 },
        { usd: 1, tokens: 1000 },
        { usd: 0, tokens: 0 },
      ];
      expect(await ask("a")).toEqual({ keys: [day, own, none], own });
      expect(await ask("nobody")).toMatchObject({ own: null });
      await commitAll(store, [recordUsage(starts[1] as Change, { usd: 0.25, inputTokens: 100, outputTokens: 20 })]);
      const now = { usd: 0.25, tokens: 120 };
      expect(await ask("b")).toEqual({ keys: [{ usd: 1.25, tokens: 1120 }, own, none], own: now });
    });

    test("from four fifths of a limit on, the answer says so", async () => {
      const a = newRun("a");
      await commitAll(store, [a]);
      const start = startMetered(a, { usd: 0.8, tokens: 79, limits: dayLimit(1, 100) });
      expect(await store.commit(start)).toMatchObject({
        type: "ok",
        near: [{ scope: "day", key: "2026-01-01", unit: "usd", used: 0.8, limit: 1 }],
      });
    });

    test("what is told replaces what was put aside; what is not told stays booked and is called unknown, never 0", async () => {
      const [a, b, c, d] = [newRun("a"), newRun("b"), newRun("c"), newRun("d")];
      const starts = [a, b, c, d].map((run) => startMetered(run, { usd: 1, tokens: 1000 }));
      await commitAll(store, [a, b, c, d, ...starts]);
      await commitAll(store, [
        recordUsage(starts[0] as Change, { usd: 0.25, inputTokens: 100, outputTokens: 20, cachedTokens: 60 }),
        recordUsage(starts[1] as Change, { inputTokens: 300, outputTokens: 30 }, "gpt-6"),
        recordUsage(starts[2] as Change, { usd: 0 }),
      ]);
      const [row, ...others] = await store.spending({ by: "agent" });
      expect(others).toEqual([]);
      expect(row).toEqual({
        key: "analyst",
        attempts: 4,
        usd: 0.25,
        unknownUsd: 2,
        assumedUsd: 2,
        inputTokens: 400,
        outputTokens: 50,
        cachedTokens: 60,
        unknownTokens: 2,
        assumedTokens: 2000,
        durationMs: 0,
      });
      const keys = async (by: Parameters<Store["spending"]>[0]["by"]) =>
        (await store.spending({ by })).map(({ key }) => key);
      // The booked amount decides the order: 1 for the unknown one, 1 for the one in progress, 0.25 for the others.
      expect(await keys("model")).toEqual(["opus", "gpt-6", "opus-4"]);
      expect(await keys("runner")).toEqual(["claude"]);
      expect(await keys("flow")).toEqual(["story"]);
      expect(await keys("stage")).toEqual(["analyst"]);
      expect(await keys("day")).toEqual(["2026-01-01"]);
      expect(new Set(await keys("run"))).toEqual(new Set(["a", "b", "c", "d"]));
      expect(await store.spending({ by: "run", runId: "a" })).toMatchObject([{ key: "a", usd: 0.25 }]);
      expect(await store.spending({ by: "run", since: minute(2) })).toEqual([]);
      expect(await store.verify()).toEqual([]);
      store = await opened.reopen();
      expect(await store.spending({ by: "agent" })).toEqual([row]);
    });

    test("the day is the one of the start, also when the news come later; usage without a start counts as well", async () => {
      const [a, b] = [newRun("a"), newRun("b")];
      const start = startMetered(a, { usd: 1, tokens: 0, at: "2025-12-31T23:59:59.999Z" });
      await commitAll(store, [a, b, start, recordUsage(start, { usd: 0.5 }), recordUsage(b, { usd: 0.125 })]);
      expect((await store.spending({ by: "day" })).map(({ key, usd }) => [key, usd])).toEqual([
        ["2025-12-31", 0.5],
        ["2026-01-01", 0.125],
      ]);
      expect(await store.verify()).toEqual([]);
    });

    test("the running sums are those of the attempts: times, a model that is told late, a cut day, a deleted story", async () => {
      const [a, b, gone] = [newRun("a"), newRun("b"), newRun("gone", { subjectId: "v0.1:gone" })];
      const start = startMetered(a, { usd: 1, tokens: 10, at: "2025-12-31T23:59:00.000Z" });
      const finished = { track: "main", stage: "analyst", attempt: 1, outcome: outcomeOf("pass") } as const;
      const ended = changeOf(after(start), [
        eventAt("2026-01-01T00:01:00.000Z", { type: "stage.finished", ...finished }),
      ]);
      const silent = startMetered(b, { usd: 2, tokens: 20, at: "2025-12-31T12:00:00.000Z" });
      const doomed = startMetered(gone, { usd: 4, tokens: 40 });
      const canceled = changeOf(after(doomed), [eventAt(minute(9), { type: "run.canceled", reason: "no" })]);
      await commitAll(store, [a, b, gone, start, ended, recordUsage(ended, { usd: 0.5, inputTokens: 7 })]);
      await commitAll(store, [silent, doomed, canceled]);
      const total = async (since?: string) => {
        const keys = ["run", "agent", "stage", "flow", "day", "runner", "model"] as const;
        const rows = await Promise.all(keys.map((by) => store.spending({ by, ...optional({ since }) })));
        // Those by run are added up from the attempts themselves.
        const sums = rows.map(totalOf);
        for (const sum of sums) expect(sum).toEqual(sums[0]);
        return sums[0];
      };
      const all = { attempts: 3, usd: 0.5, assumedUsd: 6, inputTokens: 7, unknownTokens: 2, durationMs: 120_000 };
      expect(await total()).toMatchObject(all);
      expect(await total("2025-12-31T23:00:00.000Z")).toMatchObject({ attempts: 2, usd: 0.5, assumedUsd: 4 });
      expect(await total("2025-12-31T00:00:00.000Z")).toMatchObject(all);
      expect(await total("2026-01-01T00:00:00.000Z")).toMatchObject({ attempts: 1, assumedUsd: 4, durationMs: 0 });
      expect(await total("2026-01-01")).toMatchObject({ attempts: 1, assumedUsd: 4, durationMs: 0 });
      expect(await total("2027-01-01T00:00:00.000Z")).toMatchObject({ attempts: 0 });
      expect((await store.spending({ by: "model" })).map(({ key }) => key)).toEqual(["opus", "opus-4"]);
      expect(await store.verify()).toEqual([]);
      expect(await store.deleteSubject("v0.1:gone")).toMatchObject({ type: "deleted" });
      store = await opened.reopen();
      expect(await total()).toMatchObject({ ...all, attempts: 2, assumedUsd: 2, unknownTokens: 1 });
      expect(await store.verify()).toEqual([]);
    });

    test("how the last runs went: ends, medians, counted loops, and only as many runs as were asked for", async () => {
      const runs = ["a", "b"].map((id) => wholeRun(id));
      for (const changes of runs) await commitAll(store, changes);
      const open = newRun("c");
      const counted = { type: "counter.changed", key: "revision", streak: 0 } as const;
      const finished = { track: "main", stage: "analyst", attempt: 1, outcome: outcomeOf("revise") } as const;
      const at = minute(5);
      const looped = changeOf(after(open), [
        eventAt(at, { type: "stage.finished", ...finished }),
        eventAt(at, { ...counted, from: 0, to: 1 }),
        eventAt(at, { ...counted, from: 1, to: 0 }),
      ]);
      await commitAll(store, [open, looped]);
      const whole = {
        runs: 3,
        completed: 2,
        canceled: 0,
        stopped: 0,
        medianMs: 50 * 60_000,
        medianUsd: null,
        loops: 1,
      };
      expect(await store.flowStats({ flow: "story", limit: 10 })).toEqual(whole);
      expect(await store.flowStats({ flow: "story", limit: 1 })).toMatchObject({
        runs: 1,
        completed: 0,
        medianMs: null,
      });
      expect(await store.flowStats({ flow: "other", limit: 10 })).toMatchObject({ runs: 0, loops: 0, medianMs: null });
      // Another machine's cost does not count for this one.
      await commitAll(store, wholeRun("there", "imported-there"));
      expect(await store.flowStats({ flow: "story", limit: 10 })).toEqual(whole);
      expect(await store.insights({ limit: 10 })).toMatchObject({ runs: 3, waits: [{ times: 2 }] });
    });

    test("where runs lose time: what was sent back by whom, how long people were waited for, what failed", async () => {
      await commitAll(store, wholeRun("a"));
      const [b, at] = [newRun("b"), minute(5)];
      const failed = { ...outcomeOf("pass"), health: "failed", reason: "no verdict" } as const;
      const asked = changeOf(after(b), [
        eventAt(at, { type: "stage.finished", track: "main", stage: "analyst", attempt: 1, outcome: failed }),
        eventAt(at, { type: "counter.changed", key: "revision", from: 0, to: 1, streak: 0 }),
        eventAt(at, { type: "gate.opened", track: "main", item: { ...gate, openedAt: at }, carry: carryOf(0) }),
      ]);
      await commitAll(store, [b, asked]);
      const found = await store.insights({ limit: 10 });
      expect(found).toMatchObject({ runs: 2, loops: [{ flow: "story", stage: "analyst", loops: 1 }] });
      const waited = { kind: "gate", flow: "story", stage: "ship", times: 2, open: 1 };
      expect(found.waits).toEqual([{ ...waited, medianMs: 600_000, longestMs: 600_000 }]);
      expect(found.failures).toEqual([
        {
          runId: "b",
          number: 2,
          flow: "story",
          stage: "analyst",
          attempt: 1,
          agent: "analyst",
          at,
          reason: "no verdict",
        },
      ]);
      expect(await store.insights({ limit: 1 })).toMatchObject({ runs: 1, waits: [{ times: 1, open: 1 }] });
      expect(await store.insights({ limit: 10, since: minute(1) })).toMatchObject({ runs: 0, waits: [], failures: [] });
    });

    test("the history of an agent is by runner and model that were asked for, newest first, without those that used nothing", async () => {
      const runs = [1, 2, 3].map((index) => newRun(`r${index}`));
      const query = { agent: "analyst", runner: "claude", model: "opus", limit: 2 };
      for (const [index, run] of runs.entries()) {
        const start = startMetered(run, { usd: 1, tokens: 0 });
        const usage = { usd: index / 4, inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
        await commitAll(store, [run, start, recordUsage(start, usage)]);
      }
      expect((await store.usageHistory(query)).map(({ usd }) => usd)).toEqual([0.5, 0.25]);
      expect(await store.usageHistory({ ...query, limit: 1 })).toHaveLength(1);
      expect(await store.usageHistory({ ...query, model: null })).toEqual([]);
      expect(await store.usageHistory({ ...query, agent: "coder" })).toEqual([]);
    });

    test("a handoff whose attempt was put off is open again until an attempt has done its work", async () => {
      const created = newRun("a");
      const main = { track: "main", stage: "analyst" } as const;
      const failed: Outcome = { health: "failed", cause: "rate_limit", issues: [], questions: [], warnings: [] };
      const put = {
        cause: "rate_limit",
        reason: "",
        until: minute(9),
        retry: 1,
        of: 5,
        times: { outages: 1, crashes: 0 },
      };
      const postponed = changeOf(after(created), [
        eventAt(minute(1), { type: "stage.started", ...main, attempt: 1 }),
        eventAt(minute(1), { type: "handoff.accepted", track: "main", number: 1 }),
        eventAt(minute(2), { type: "stage.finished", ...main, attempt: 1, outcome: failed }),
        eventAt(minute(2), { type: "stage.postponed", ...main, attempt: 1, ...put }),
        eventAt(minute(2), { type: "stage.ready", ...main, attempt: 2, carry: carryOf(1), notBefore: minute(9) }),
      ]);
      await commitAll(store, [created, postponed]);
      expect(await store.handoffs("a")).toMatchObject([{ number: 1, state: "accepted", processedAt: minute(1) }]);
      const started = changeOf(after(postponed), [
        eventAt(minute(9), { type: "stage.started", ...main, attempt: 2 }),
        eventAt(minute(10), { type: "stage.finished", ...main, attempt: 2, outcome: outcomeOf("pass") }),
      ]);
      await commitAll(store, [started]);
      expect(await store.handoffs("a")).toMatchObject([{ number: 1, state: "done" }]);
      expect(await store.verify()).toEqual([]);
    });

    test("handoffs carry the story at first, then what the sender gave; what comes back says why it was refused", async () => {
      const changes = wholeRun("a");
      await commitAll(store, [...changes, newRun("b", { subjectId: "v0.1:a" }), newRun("c")]);
      const rows = await store.handoffRows({ subjectId: "v0.1:a" });
      const story = { story: { id: "v0.1:a", title: 'Story a "ä" 😀', body: "Do it." } };
      const given = { summary: "analyst did it", files: ["a.ts"] };
      expect(rows.map(({ runId, number, payload }) => [runId, number, payload])).toEqual([
        ["a", 1, story],
        ["a", 2, given],
        ["a", 3, { ...given, rejection_reason: "the plan is unclear", rejected_by: "coder" }],
        ["b", 1, { story: { id: "v0.1:a", title: 'Story b "ä" 😀', body: "Do it." } }],
      ]);
      const records = await store.handoffs("a");
      const payloads = new Map(
        (await store.attempts("a")).map((each) => [`${each.stage}/${each.attempt}`, each.outcome]),
      );
      const payloadOf = (stage: string, attempt: number) =>
        payloads.get(`${stage}/${attempt}`)?.["payload"] as JsonObject | undefined;
      const { subject } = (changes[0] as Change).run;
      for (const record of records) {
        const { flowHash, payload, ...rest } = rows[record.number - 1] as (typeof rows)[number];
        expect(flowHash).toBe("f1");
        expect(rest).toEqual(record);
        expect(payload).toEqual(handoffPayload(records, record, subject, payloadOf));
      }
    });

    test("a handoff that goes back and forth carries what was sent first, and the last reason", async () => {
      const created = newRun("a");
      const back = (number: number, from: string, to: string, reason: string): RunEvent[] => [
        eventAt(minute(number), { type: "handoff.rejected", track: "main", number: number - 1, reason }),
        eventAt(minute(number), handoffCreated(number, from, to, 1)),
      ];
      const change = changeOf(after(created), [
        ...back(2, "analyst", "orchestrator", "no story"),
        ...back(3, "orchestrator", "analyst", "it is one"),
      ]);
      await commitAll(store, [created, change]);
      const [, second, third] = await store.handoffRows({ subjectId: "v0.1:a" });
      expect(second?.payload).toMatchObject({
        story: { id: "v0.1:a" },
        rejection_reason: "no story",
        rejected_by: "analyst",
      });
      expect(third?.payload).toMatchObject({
        story: { id: "v0.1:a" },
        rejection_reason: "it is one",
        rejected_by: "orchestrator",
      });
    });

    test("handoffs are found by id, and the pending ones of all stories by age, not at the very time", async () => {
      const old = newRun("old");
      await commitAll(store, [...wholeRun("a"), old, newRun("young")]);
      const later = changeOf(after(old), [
        eventAt(minute(3), { type: "handoff.expired", track: "main", number: 1, reason: "Agent timed out" }),
        eventAt(minute(5), handoffCreated(2, null, "analyst", 0)),
      ]);
      await commitAll(store, [later]);
      const found = async (query: Parameters<Store["handoffRows"]>[0]) =>
        (await store.handoffRows(query)).map(({ runId, number }) => `${runId}.${number}`);
      expect(await found({ pending: true })).toEqual(["young.1", "old.2"]);
      expect(await found({ pendingSince: minute(5) })).toEqual(["young.1"]);
      expect(await found({ pendingSince: minute(6) })).toEqual(["young.1", "old.2"]);
      const [first] = await store.handoffs("old");
      expect(first).toMatchObject({ state: "expired", rejectionReason: "Agent timed out", processedAt: minute(3) });
      expect(await found({ id: first?.id ?? 0 })).toEqual(["old.1"]);
      expect(await found({ id: 999 })).toEqual([]);
      // A handoff to a gate waits for a person, in the inbox.
      await commitAll(store, [changeOf(after(later), [eventAt(minute(7), handoffCreated(3, "analyst", null, 1))])]);
      expect(await found({ pending: true })).toEqual(["young.1", "old.2"]);
      expect(await found({ subjectId: "nobody" })).toEqual([]);
      expect(await store.verify()).toEqual([]);
    });

    test("the runs of a subject are found, newest first, and whether a run has had a signal", async () => {
      await commitAll(store, [newRun("a", { subjectId: "S" }), newRun("b"), newRun("c", { subjectId: "S" })]);
      expect((await store.runsOf("S")).map(({ id }) => id)).toEqual(["c", "a"]);
      expect(await store.runsOf("T")).toEqual([]);
      await commitAll(store, wholeRun("w"));
      expect(await store.hasSignal("w", "w-over")).toBe(true);
      expect(await store.hasSignal("w", "w-other")).toBe(false);
      expect(await store.hasSignal("a", "w-over")).toBe(false);
      expect(await store.hasSignal("nobody", "w-over")).toBe(false);
    });

    test("R-003-04: a story goes with its handoffs and everything else; others stay, and the store is clean", async () => {
      const other = newRun("other");
      const canceled = newRun("again", { subjectId: "v0.1:gone" });
      const start = startMetered(canceled, { usd: 1, tokens: 10, ticket: ":v0.1:gone" });
      const otherStart = startMetered(other, { usd: 2, tokens: 20, ticket: ":v0.1:other" });
      const whole = wholeRun("gone");
      await commitAll(store, [...whole.slice(0, 3), other, canceled, start, ...whole.slice(3), otherStart]);
      const spent = async () => (await store.spending({ by: "day" })).map(({ assumedUsd }) => assumedUsd);
      expect(await spent()).toEqual([3]);
      expect(await store.deleteSubject("v0.1:gone")).toEqual({ type: "not_ended", runIds: ["again"] });
      const end = changeOf(after(start), [eventAt(minute(9), { type: "run.canceled", reason: "no" })], {
        enqueue: [{ type: "release-workspace" }],
      });
      await commitAll(store, [end]);
      expect(await store.deleteSubject("v0.1:gone")).toEqual({ type: "in_use", runIds: ["again"] });
      for (const { id } of await store.pendingWork()) await store.settleWork(id);
      const last = await store.lastSeq();
      expect(await store.deleteSubject("v0.1:gone")).toEqual({ type: "deleted", runIds: ["gone", "again"] });
      expect(await store.deleteSubject("v0.1:gone")).toEqual({ type: "deleted", runIds: [] });
      expect(await store.lastSeq()).toBe(last);
      for (const runId of ["gone", "again"]) {
        expect(await store.loadRun(runId)).toBeUndefined();
        expect(await store.attempts(runId)).toEqual([]);
        expect(await store.events({ after: 0, runId, limit: 10 })).toEqual([]);
      }
      expect(await store.handoffRows({ subjectId: "v0.1:gone" })).toEqual([]);
      expect((await store.events({ after: 0, limit: 100 })).every(({ runId }) => runId === "other")).toBe(true);
      expect(await store.loadRun("other")).toEqual(after(otherStart));
      expect(await spent()).toEqual([2]);
      expect(await store.verify()).toEqual([]);
      // Money spent on that day is not given back: 3 of 3 are used.
      const next = newRun("next");
      const limits: KeyedLimit[] = [{ scope: "day", key: minute(0).slice(0, 10), usd: 3, tokens: null }];
      const late = { ...startMetered(next, { usd: 1, tokens: 0, limits }), signalIds: ["late"] };
      await commitAll(store, [next]);
      expect(await store.commit(late)).toMatchObject({ type: "over_budget", used: 3 });
      await commitAll(store, wholeRun("gone"));
      expect(await store.verify()).toEqual([]);
      store = await opened.reopen();
      expect(await store.verify()).toEqual([]);
    });

    test("P9: an owner that was replaced writes nothing any more; it reads, and others beside the owner write", async () => {
      const first = await opened.takeOver();
      await commitAll(first, [newRun("a")]);
      const second = await opened.takeOver();
      const fenced = expect.objectContaining({ code: "store_fenced" });
      await expect(first.commit(newRun("b"))).rejects.toEqual(fenced);
      await expect(first.settleWork(1)).rejects.toEqual(fenced);
      await expect(first.changedElsewhere()).rejects.toEqual(fenced);
      expect(await first.loadRun("b")).toBeUndefined();
      await commitAll(second, [newRun("b")]);
      await commitAll(store, [newRun("c")]);
      expect(await second.countRuns()).toMatchObject({ running: 3 });
      expect(await second.verify()).toEqual([]);
    });

    test("P9: a store keeps its incarnation for every owner and every reader", async () => {
      const incarnation = store.incarnation();
      expect(incarnation).toMatch(/^[0-9a-f]{16,}$/u);
      const owner = await opened.takeOver();
      await commitAll(owner, [newRun("a")]);
      expect((await opened.takeOver()).incarnation()).toBe(incarnation);
      expect((await opened.reopen()).incarnation()).toBe(incarnation);
    });

    test("R-X-16: who follows by sequence while two processes commit sees every event once and in order", async () => {
      const stores = [store, await opened.takeOver()];
      const seen: number[] = [];
      let isDone = false;
      const follow = async (): Promise<void> => {
        for (let last = false; !last; ) {
          last = isDone;
          const page = await store.events({ after: seen.at(-1) ?? 0, limit: 1000 });
          seen.push(...page.map(({ seq }) => seq));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const commits = stores.map(async (each, side) => {
        for (let index = 0; index < 15; index += 1) await commitAll(each, [newRun(`${side}-${index}`)]);
      });
      const following = follow();
      await Promise.all(commits);
      isDone = true;
      await following;
      expect(seen).toEqual(Array.from({ length: 90 }, (_, index) => index + 1));
      expect(await stores[1]?.changedElsewhere()).toBe(true);
    });

    test("own commits are not changes from elsewhere", async () => {
      await commitAll(store, [newRun("a")]);
      expect(await store.changedElsewhere()).toBe(false);
    });
  });
}

function totalOf(rows: readonly SpendingRow[]): Readonly<Record<string, number>> {
  const total: Record<string, number> = { attempts: 0 };
  for (const { key: _, ...sums } of rows)
    for (const [name, value] of Object.entries(sums)) total[name] = (total[name] ?? 0) + value;
  return total;
}

function openItem(change: Change): InboxItem | undefined {
  const track = change.run.tracks["main"];
  return track?.at === "waiting" ? track.item : undefined;
}

/** Only the hash matters to the store. */
function flowNamed(name: string): ResolvedFlow {
  return { hash: "h", name } as unknown as ResolvedFlow;
}
