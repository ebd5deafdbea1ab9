import { expect, test } from "vitest";
import type { Act } from "../run/acts.ts";
import { BULK_VERBS, type BulkVerb, planFor, type BulkSubject } from "./plan.ts";

const RUN = { id: "r0123456789", number: 7 };
const AD_HOC: BulkSubject = {
  key: "A",
  title: "Export",
  run: RUN,
  runStatus: "running",
  file: null,
  end: undefined,
  items: [],
};
const FILE = { ticket: "AGI-1", status: "Backlog" as const, version: "v1", canStart: true, why: "it can start" };
const UNTIL = "2026-03-02T08:00:00.000Z";
const can = (...acts: readonly (readonly [Act["act"], string | null, string | null])[]) =>
  new Map([[RUN.id, acts.map(([act, stage, why]): Act => ({ act, stage, why }))]]);
const plan = (verb: BulkVerb, subject: BulkSubject, acts = can()) => planFor(verb, subject, acts, UNTIL);

test("what a run allows is what the daemon says, and its reason is shown for the others", () => {
  const acts = can(["pause", null, null], ["resume", null, "the run is not paused"], ["cancel", null, null]);
  expect(plan("pause", AD_HOC, acts).deeds).toEqual([{ do: "act", run: RUN, act: { act: "pause", stage: null } }]);
  expect(plan("pause", AD_HOC, acts).command).toBe("passrail runs pause 7");
  expect(plan("resume", AD_HOC, acts)).toMatchObject({ deeds: [], text: "The run is not paused." });
  expect(plan("pause", AD_HOC, new Map()).text).toBe("What it allows is not known.");
});

test("several tracks that stopped are all retried", () => {
  const acts = can(["retry", "api", null], ["retry", "web", null], ["retry", "docs", "it has not stopped"]);
  const { deeds, text } = plan("retry", { ...AD_HOC, runStatus: "stopped" }, acts);
  expect(deeds.map((deed) => (deed.do === "act" ? deed.act.stage : ""))).toEqual(["api", "web"]);
  expect(text).toContain("(api, web)");
});

test("a ticket without a run is started or canceled by its file, bound to the version that was seen", () => {
  const ticket: BulkSubject = { ...AD_HOC, run: null, runStatus: null, file: FILE };
  expect(plan("start", ticket).deeds).toEqual([{ do: "start", ticket: "AGI-1" }]);
  expect(plan("cancel", ticket).deeds).toEqual([{ do: "status", ticket: "AGI-1", to: "Canceled", version: "v1" }]);
  expect(plan("start", { ...ticket, file: { ...FILE, canStart: false, why: "AGI-2 is open" } })).toMatchObject({
    deeds: [],
    text: "AGI-2 is open.",
  });
  expect(plan("cancel", { ...ticket, file: { ...FILE, status: "Done" } }).text).toBe("It is done.");
});

test("work is merged, proposed or discarded only where the daemon offers it", () => {
  const end: BulkSubject["end"] = {
    id: "merge:r0123456789",
    kind: "merge",
    title: "Export",
    text: "",
    since: null,
    run: RUN,
    ticket: null,
    verbs: [{ verb: "merge", effect: "Merges it.", command: "passrail merge 7", act: { do: "merge" } }],
  };
  const done: BulkSubject = { ...AD_HOC, runStatus: "completed", end };
  expect(plan("merge", done)).toMatchObject({ text: "Merges it.", command: "passrail merge 7" });
  expect(plan("merge", done).deeds).toHaveLength(1);
  expect(plan("discard", done).deeds).toEqual([]);
  expect(plan("later", done).deeds).toEqual([{ do: "snooze", entry: end.id, until: UNTIL }]);
});

test("every verb says something about everything, and changes nothing that it does not know", () => {
  const bare: BulkSubject = { ...AD_HOC, run: null, runStatus: null };
  for (const verb of BULK_VERBS) {
    const { deeds, text } = plan(verb, bare);
    expect(deeds).toEqual([]);
    expect(text).toMatch(/^[A-Z].*\.$/u);
  }
});
