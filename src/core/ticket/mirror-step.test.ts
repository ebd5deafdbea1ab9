import { describe, expect, test } from "vitest";
import {
  isAsKnown,
  type MirrorAct,
  type MirrorEntry,
  type MirrorKeys,
  type MirrorSeen,
  mirrorStep,
  newMirrorEntry,
} from "./mirror-step.ts";

const run = { word: "Plan In Progress", isEnded: false, title: "Title", body: "Body" };
const keys: MirrorKeys = { run: 1, last_error: null, conflict: null };
const base: MirrorEntry = {
  ...newMirrorEntry(run, { ticket: "AGI-1", path: "FR-1/AGI-1.md", status: "Needs Plan" }, undefined),
  keys,
};
const ended = { ...run, word: "Done", isEnded: true };
const found = (status: string, more: Partial<MirrorSeen & { type: "file-found" }> = {}): MirrorSeen => ({
  type: "file-found",
  path: base.path,
  status,
  text: status,
  isWorking: true,
  ...more,
});
const conflict: MirrorEntry = { ...base, state: { status: "conflict", word: "Blocked" } };
const missing: MirrorEntry = { ...base, state: { status: "missing" } };
const released: MirrorEntry = { ...base, state: { status: "released" } };
const types = (acts: readonly MirrorAct[]) => acts.map(({ type }) => type);

type Row = readonly [
  what: string,
  entry: MirrorEntry,
  seen: MirrorSeen,
  next: Partial<MirrorEntry>,
  acts: readonly MirrorAct["type"][],
];

const CONTINUE = ["continue"] as const;
const RELEASE = ["note-release", "cancel-run", "clean-file", "forget"] as const;

describe("the words of the run go into the file, in order", () => {
  const rows: readonly Row[] = [
    ["words wait for their turn", base, { type: "run-changed", run, words: ["A", "B"] }, { pending: ["A", "B"] }, []],
    ["a released file gets no words", released, { type: "run-changed", run, words: ["A"] }, { pending: [] }, []],
    ["a turn without words does nothing", base, { type: "turn", keys: null }, {}, []],
    ["a turn writes the first word", { ...base, pending: ["A", "B"] }, { type: "turn", keys: null }, {}, ["write"]],
    [
      "a word that the file shows is not written",
      { ...base, pending: ["Needs Plan"] },
      { type: "turn", keys },
      { pending: [] },
      CONTINUE,
    ],
    [
      "it is where the keys differ",
      { ...base, pending: ["Needs Plan"], keys: null },
      { type: "turn", keys },
      {},
      ["write"],
    ],
    [
      "it is where a crash may have left the older word",
      { ...base, pending: ["Needs Plan"], older: "Backlog" },
      { type: "turn", keys },
      {},
      ["write"],
    ],
    [
      "what is written is known",
      { ...base, pending: ["A", "B"], older: "X", misses: 3, reported: "no" },
      { type: "written", word: "A", keys: null },
      { written: "A", older: null, pending: ["B"], keys, misses: 0, reported: "" },
      CONTINUE,
    ],
    [
      "the file of an ended run is forgotten when it shows the end",
      { ...base, run: ended },
      { type: "turn", keys: null },
      {},
      ["forget"],
    ],
    ["not before", { ...base, run: ended, pending: ["Done"] }, { type: "turn", keys }, {}, ["write"]],
  ];
  test.each(rows)("%s", (_, entry, seen, next, acts) => {
    const step = mirrorStep(entry, seen);
    expect(step.entry).toEqual({ ...entry, ...(seen.type === "run-changed" ? { run: seen.run } : {}), ...next });
    expect(types(step.acts)).toEqual(acts);
  });

  test("a write expects the status that was written last, and carries the keys with the last word", () => {
    const { acts } = mirrorStep({ ...base, pending: ["A"] }, { type: "turn", keys });
    expect(acts).toEqual([{ type: "write", before: "Needs Plan", word: "A", keys }]);
  });
});

describe("a write that fails", () => {
  const fail = (code: string): MirrorSeen => ({ type: "write-failed", code, message: "no" });
  const pending = { ...base, pending: ["A"] };
  const rows: readonly Row[] = [
    ["another status: the file is looked at", pending, fail("ticket_conflict"), { misses: 1 }, ["look"]],
    ["no file: the folder is looked at", pending, fail("ticket_file_missing"), { misses: 1 }, ["look"]],
    [
      "five times in a row: it waits",
      { ...pending, misses: 4 },
      fail("ticket_conflict"),
      { misses: 0, reported: "FR-1/AGI-1.md changes too fast to be written" },
      ["report", "retry-later"],
    ],
    ["another reason: reported, tried again", pending, fail("disk"), { reported: "no" }, ["report", "retry-later"]],
    ["the same reason is reported once", { ...pending, reported: "no" }, fail("disk"), {}, ["retry-later"]],
    [
      "a broken file is tried again",
      pending,
      { type: "file-broken", message: "bad" },
      { reported: "bad" },
      ["report", "retry-later"],
    ],
    [
      "a file that is gone is warned of",
      pending,
      { type: "file-missing" },
      { state: { status: "missing" } },
      ["warn-run"],
    ],
    ["once", { ...missing, misses: 2 }, { type: "file-missing" }, { misses: 0 }, []],
    [
      "an ended run does not wait for a missing file",
      { ...missing, run: ended, pending: ["Done"] },
      { type: "file-missing" },
      {},
      ["forget"],
    ],
  ];
  test.each(rows)("%s", (_, entry, seen, next, acts) => {
    const step = mirrorStep(entry, seen);
    expect(step.entry).toEqual({ ...entry, ...next });
    expect(types(step.acts)).toEqual(acts);
  });
});

describe("R-004-41: a person's status is not lost, and does not overwrite the run", () => {
  const rows: readonly Row[] = [
    ["the word that was written last", { ...base, older: "Backlog" }, found("Needs Plan"), { older: null }, CONTINUE],
    [
      "the older word after a crash",
      { ...base, older: "Backlog" },
      found("Backlog"),
      { written: "Backlog", older: null },
      CONTINUE,
    ],
    ["the word of the run", base, found("Plan In Progress"), { written: "Plan In Progress" }, CONTINUE],
    [
      "the file's own spelling is expected at the next write",
      base,
      found("Needs Plan", { text: "odd" }),
      { written: "odd" },
      CONTINUE,
    ],
    ["a file that is back", missing, found("Needs Plan"), { state: { status: "following" } }, CONTINUE],
    [
      "a file that moved",
      base,
      found("Needs Plan", { path: "FR-2/AGI-1.md" }),
      { path: "FR-2/AGI-1.md" },
      ["warn-run", "continue"],
    ],
    [
      "another word while an attempt works",
      base,
      found("Blocked"),
      { state: { status: "conflict", word: "Blocked" } },
      ["warn-run", "note-conflict"],
    ],
    ["the same conflict again", conflict, found("Blocked"), {}, []],
    [
      "another conflict",
      conflict,
      found("Needs Spec"),
      { state: { status: "conflict", word: "Needs Spec" } },
      ["warn-run", "note-conflict"],
    ],
    [
      "a conflict that is taken back",
      conflict,
      found("Needs Plan"),
      { state: { status: "following" }, keys: null, pending: [run.word] },
      CONTINUE,
    ],
    [
      "another word while no attempt works",
      { ...base, pending: ["A"] },
      found("Blocked", { isWorking: false }),
      { state: { status: "released" }, pending: [] },
      RELEASE,
    ],
    [
      "a conflict after the attempt",
      conflict,
      found("Blocked", { isWorking: false }),
      { state: { status: "released" } },
      RELEASE,
    ],
    ["Canceled at any time", base, found("Canceled"), { state: { status: "released" } }, RELEASE],
    [
      "a run that has ended is not canceled, and its file says that it came too late",
      { ...conflict, run: ended },
      found("Blocked", { isWorking: false }),
      { state: { status: "released" } },
      ["note-release", "note-conflict", "forget"],
    ],
    [
      "a release that an earlier process noted",
      base,
      { type: "release-noted", word: "Blocked" },
      { state: { status: "released" } },
      ["cancel-run", "clean-file", "forget"],
    ],
  ];
  test.each(rows)("%s", (_, entry, seen, next, acts) => {
    const step = mirrorStep(entry, seen);
    expect(step.entry).toEqual({ ...entry, ...next });
    expect(types(step.acts)).toEqual(acts);
  });

  test("a conflict is looked at in every turn", () => {
    expect(mirrorStep({ ...conflict, pending: ["A"] }, { type: "turn", keys }).acts).toEqual([{ type: "look" }]);
  });

  test("the run learns why it ends", () => {
    const reason = (status: string) =>
      mirrorStep(base, found(status, { isWorking: false })).acts.find(({ type }) => type === "cancel-run");
    expect(reason("Canceled")).toMatchObject({ reason: "canceled in its file" });
    expect(reason("Blocked")).toMatchObject({ reason: "its file was set to Blocked" });
  });
});

test("R-004-41: an edit of the text reaches the run once", () => {
  const seen: MirrorSeen = { type: "text-found", title: "Title", body: "Other" };
  const first = mirrorStep(base, seen);
  expect(first.acts).toEqual([{ type: "edit-run", title: "Title", body: "Other" }]);
  expect(mirrorStep(first.entry, seen).acts).toEqual([]);
  expect(mirrorStep(base, { ...seen, body: "Body" }).acts).toEqual([]);
});

test("a scan shows a file as known by its last word, or by the word of the conflict", () => {
  expect(isAsKnown(base, "Needs Plan")).toBe(true);
  expect(isAsKnown(base, "Blocked")).toBe(false);
  expect(isAsKnown(conflict, "Blocked")).toBe(true);
  expect(isAsKnown(conflict, "Needs Plan")).toBe(false);
  expect(isAsKnown(missing, "Needs Plan")).toBe(false);
});

test("R-004-61: after a restart both words of the noted write are known", () => {
  const note = { before: "Needs Plan", word: "Plan In Progress" };
  expect(newMirrorEntry(run, { ticket: "AGI-1", path: "p", status: "Backlog" }, note)).toMatchObject({
    written: "Plan In Progress",
    older: "Needs Plan",
  });
});
