import { expect, test } from "vitest";
import { countKinds, kindOf, type Need, needsOf, type NeededEnd, type NeededItem } from "./needs.ts";

const item = (id: string, openedAt: string): NeededItem => ({ id, openedAt }) as NeededItem;
const end = (id: string, kind: NeededEnd["kind"], since: string | null): NeededEnd =>
  ({ id, kind, since, run: { id: id.split(":")[1], number: 1 }, ticket: null }) as NeededEnd;
const inbox = {
  items: [item("r1.1", "2026-01-02"), item("r2.1", "2026-01-04")],
  looseEnds: [
    end("stopped:r3", "stopped", "2026-01-03"),
    end("merge:r4", "merge", "2026-01-01"),
    end("file:a", "file", null),
    end("trust:h", "trust", "2026-01-09"),
    end("blocked:A-1", "blocked", "2026-01-05"),
  ],
};
const ids = (needs: readonly Need[]): readonly string[] => needs.map(({ id }) => id);

test("one list: what keeps everything from starting leads it, then what runs wait for, oldest first; what has no time ends it", () => {
  const now = { logins: [{ runner: "claude", evidence: "", fix: "claude login" }], snoozed: [] };
  const { open, later } = needsOf({ inbox, now }, "2026-01-10");
  expect(ids(open)).toEqual([
    "login:claude",
    "trust:h",
    "r1.1",
    "r2.1",
    "merge:r4",
    "stopped:r3",
    "blocked:A-1",
    "file:a",
  ]);
  expect(later).toEqual([]);
  expect(countKinds(open)).toEqual([
    ["decide", 2],
    ["merge", 1],
    ["stopped", 1],
    ["tickets", 1],
    ["files", 2],
    ["accounts", 1],
  ]);
  expect(open.map(kindOf).at(0)).toBe("accounts");
});

test("what was put off is apart until its time, and then back in its place", () => {
  const now = { logins: [], snoozed: [{ id: "r1.1", until: "2026-01-10T08" }] };
  expect(ids(needsOf({ inbox, now }, "2026-01-10T07").later)).toEqual(["r1.1"]);
  expect(ids(needsOf({ inbox, now }, "2026-01-10T07").open)).not.toContain("r1.1");
  expect(needsOf({ inbox, now }, "2026-01-10T08").later).toEqual([]);
  expect(needsOf({ inbox: undefined, now: undefined }, "")).toEqual({ open: [], later: [] });
});
