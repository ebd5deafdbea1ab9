import { expect, test } from "vitest";
import { ticketFile, ticketWith } from "../ticket/ticket.testsuite.ts";
import { dropOf } from "./drops.ts";
import { itemsOf, LANES, LANE_WORDS, type LaneName, type WorkEnd } from "./item.ts";

const STOPPED = { status: "stopped" as const, state: { is: "stopped" as const, text: "it crashed", until: null } };
const WAITING = { status: "waiting" as const, state: { is: "waiting" as const, text: "", until: null } };
const DONE = { status: "completed" as const, state: { is: "completed" as const, text: "", until: null } };
const UNMERGED: WorkEnd = {
  id: "merge:r0123456789",
  kind: "merge",
  title: "Export",
  text: "Its work is on its branch.",
  since: null,
  run: { id: "r0123456789", number: 1 },
  ticket: "T-1",
  verbs: [{ verb: "merge", effect: "Merges it.", command: "passrail merge 1", act: { do: "merge" } }],
};

const to = (lane: LaneName) => ({ state: lane, word: LANE_WORDS[lane] });
/** The effect of a drop in each lane: its deed, "–" for its own lane, or nothing. */
function drops(ticket: Parameters<typeof itemsOf>[0][number], ends: readonly WorkEnd[] = []): Record<string, string> {
  const [item] = itemsOf([ticket], ends);
  if (item === undefined) throw new Error("there is no item");
  return Object.fromEntries(
    LANES.flatMap((lane) => {
      const drop = dropOf(item, to(lane));
      return drop.is === "legal" ? [[lane, drop.does]] : [];
    }),
  );
}

test("a ticket that can start is started or canceled, and a canceled one comes back", () => {
  expect(drops(ticketFile({}))).toEqual({ underway: "Start AGI-1 now", stopped: "Move AGI-1 to Canceled" });
  expect(drops(ticketFile({ state: "ended", status: "Canceled" }))).toEqual({ backlog: "Move AGI-1 to Backlog" });
  expect(drops(ticketFile({ state: "waits" }))).toEqual({ stopped: "Move AGI-1 to Canceled" });
});

test("a run is canceled, a stopped one retried; nothing can be decided by a drop", () => {
  expect(drops(ticketWith({}))).toEqual({ stopped: "Cancel #1" });
  expect(drops(ticketWith(STOPPED))).toEqual({ underway: "Retry #1" });
  expect(drops(ticketWith(WAITING))).toEqual({ stopped: "Cancel #1" });
});

test("finished work is merged where the daemon offers it, and nowhere else", () => {
  expect(drops(ticketWith(DONE), [UNMERGED])).toEqual({ done: "Merge the work of #1" });
  expect(drops(ticketWith(DONE))).toEqual({});
});

test("in lanes of words the table of moves decides, bound to the file that was seen", () => {
  const [item] = itemsOf([ticketFile({ version: "v7" })], []);
  if (item === undefined) throw new Error("there is no item");
  const word = (text: string) => dropOf(item, { state: null, word: text });
  expect(word("Needs Plan")).toEqual({
    is: "legal",
    does: "Move AGI-1 to Needs Plan",
    deed: { do: "status", ticket: "AGI-1", to: "Needs Plan", version: "v7" },
  });
  expect(word("Done")).toMatchObject({ is: "illegal", why: expect.stringContaining("proven merged") as string });
  expect(word("Backlog")).toEqual({ is: "same" });
  expect(word("no such word")).toMatchObject({ is: "illegal" });
});
