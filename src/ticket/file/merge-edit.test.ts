import { expect, test } from "vitest";
import { mergeEdit } from "./merge-edit.ts";

const BEFORE = "---\nid: AGI-1\ntitle: Log in\nstatus: Backlog # here\n---\n\nDo it.\n";
const EDITED = BEFORE.replace("Do it.", "Do it well.").replace("Log in", "Log in, please");

test("nothing has happened meanwhile: the edit as it is", () => {
  expect(mergeEdit(BEFORE, EDITED, BEFORE)).toEqual({ ok: true, value: EDITED });
});

test("what a run wrote and what a person wrote are both there", () => {
  const now = BEFORE.replace("status: Backlog # here\n", "status: Research In Progress # here\nrun: 4\n");
  const merged = EDITED.replace("status: Backlog # here\n", "status: Research In Progress # here\nrun: 4\n");
  expect(mergeEdit(BEFORE, EDITED, now)).toEqual({ ok: true, value: merged });
});

test("a key that the run took away is gone", () => {
  const blocked = BEFORE.replace("---\n\n", 'last_error: "no: way"\n---\n\n');
  const edited = blocked.replace("Do it.", "Do it well.");
  expect(mergeEdit(blocked, edited, BEFORE)).toEqual({ ok: true, value: BEFORE.replace("Do it.", "Do it well.") });
});

test.each([
  ["somebody else changed the body", BEFORE.replace("Do it.", "Leave it.")],
  ["somebody else changed the title", BEFORE.replace("Log in", "Log out")],
  ["the file is not readable any more", "nothing"],
])("security 59: %s, and nothing is written", (_, now) => {
  expect(mergeEdit(BEFORE, EDITED, now)).toMatchObject({ ok: false, error: { code: "ticket_conflict" } });
});

test("security 59: both changed the status, each to another word", () => {
  const mine = BEFORE.replace("Backlog", "Canceled");
  const theirs = BEFORE.replace("Backlog", "Research In Progress");
  expect(mergeEdit(BEFORE, mine, theirs)).toMatchObject({ ok: false, error: { code: "ticket_conflict" } });
  expect(mergeEdit(BEFORE, mine, mine)).toEqual({ ok: true, value: mine });
});
