import { expect, test } from "vitest";
import { parse } from "yaml";
import { readTicketList, ticketFileText } from "./new-ticket.ts";

const one = { title: "First", description: "Do it." };

function read(value: unknown) {
  const list = readTicketList(value);
  if (!list.ok) throw new Error(list.error.message);
  return list.value;
}

test("missing fields get their defaults", () => {
  expect(read([one])).toEqual([
    {
      title: "First",
      description: "Do it.",
      repo: "TBD",
      group: "",
      variantHint: "",
      dependsOn: [],
      priority: null,
      source: null,
    },
  ]);
});

test.each([["#1"], ["1"], [1], ["#1 "]])("R-004-31: the reference %j becomes a position", (reference) => {
  expect(read([one, { title: "Second", dependsOn: [reference] }])[1]?.dependsOn).toEqual([0]);
});

test.each<[string, unknown]>([
  ["itself", ["#2"]],
  ["one that is not there", ["#3"]],
  ["a number that only the store can know", ["AGI-1"]],
  ["nothing", [""]],
  ["zero", ["#0"]],
])("R-004-31: a dependency on %s is refused by name", (_, dependsOn) => {
  expect(readTicketList([one, { title: "Second", dependsOn }])).toMatchObject({
    ok: false,
    error: { code: "unknown_dependency" },
  });
});

test.each<[string, unknown]>([
  ["an empty list", []],
  ["no list", { title: "x" }],
  ["a ticket without a title", [{ description: "x" }]],
  ["an empty title", [{ title: "  " }]],
  ["51 tickets", Array.from({ length: 51 }, () => one)],
])("R-X-03: %s is refused", (_, value) => {
  expect(readTicketList(value)).toMatchObject({ ok: false, error: { code: "tickets_invalid" } });
});

test("a group is made safe for a branch name", () => {
  expect(read([{ ...one, group: "../Pay ments; $(rm)/" }])[0]?.group).toBe("pay-ments-rm");
});

test("what an agent wrote cannot add keys to the file", () => {
  const [ticket] = read([{ title: 'x"\nstatus: Done', description: "---\nid: AGI-1\n---", repo: "a: b" }]);
  if (ticket === undefined) throw new Error("no ticket");
  const text = ticketFileText(ticket, ["AGI-7"], 0, "Backlog");
  const [before, head = "", ...after] = text.split(/^---\n/mu);
  expect([before, after]).toEqual(["", [""]]);
  expect(parse(head)).toEqual({
    id: "AGI-7",
    title: 'x"\nstatus: Done',
    description: "---\nid: AGI-1\n---",
    repo: "a: b",
    status: "Backlog",
    dependsOn: [],
  });
});

test("R-004-28: a ticket file holds its text once, line by line; group and hint only where there are some", () => {
  const [ticket] = read([
    { ...one, description: "Goal: sessions.\n\n  Done when: it holds\n", group: "", variantHint: "" },
  ]);
  if (ticket === undefined) throw new Error("no ticket");
  expect(ticketFileText(ticket, ["AGI-7"], 0, "Backlog")).toBe(
    `---
id: AGI-7
title: "First"
description: |2-
  Goal: sessions.

    Done when: it holds
repo: "TBD"
status: Backlog
dependsOn: []
---
`,
  );
});

test("R-004-31: tickets that wait for each other in a circle are refused by name", () => {
  const list = [
    { title: "a" },
    { title: "b", dependsOn: ["#3"] },
    { title: "c", dependsOn: ["#4"] },
    { title: "d", dependsOn: ["#2", "#1"] },
  ];
  expect(readTicketList(list)).toMatchObject({
    ok: false,
    error: { code: "dependency_cycle", message: expect.stringContaining("#2, #3, #4") },
  });
  expect(readTicketList(list.slice(0, 1))).toMatchObject({ ok: true });
});

test("where a ticket was taken over from stands in its file", () => {
  const ticket = { title: "a", description: "b", repo: "o/r", group: "", variantHint: "", dependsOn: [] };
  const text = ticketFileText({ ...ticket, priority: 2, source: "github:o/r#12" }, ["AGI-7"], 0, "Backlog");
  expect(text).toContain('priority: 2\nsource: "github:o/r#12"\n---');
});
