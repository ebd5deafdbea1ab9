import { expect, test } from "vitest";
import type { WaitingItem } from "../../inbox/types.ts";
import { entriesOf, type Known } from "./entries.ts";

const nothing: Known = {
  text: "",
  places: [{ to: "/runs", name: "Runs", keys: "g r" }],
  item: undefined,
  waiting: [],
  looseEnds: [],
  working: [],
  run: undefined,
  found: [],
  flows: [{ name: "feature", title: "A feature" }],
  tickets: [],
};

const gate = {
  id: "r0a1b2c3d4e.1",
  runNumber: 12,
  kind: "gate",
  stage: "ship",
  subject: { id: "F-1", title: "Add a login" },
  answers: ["approve", "revise", "decline"],
  leads: [],
} as unknown as WaitingItem;

test("every page is there with its keys and the command that shows the same", () => {
  const entries = entriesOf(nothing);
  expect(entries.find(({ title }) => title === "Go to Runs")).toMatchObject({ keys: "g r", cli: "passrail runs list" });
  expect(entries.find(({ title }) => title === "Go to Welcome")).toMatchObject({ cli: "passrail open /welcome" });
});

test("what is looked at can be approved; what needs a reason leads to where it is asked for", () => {
  const entries = entriesOf({ ...nothing, item: gate }).filter(({ group }) => group === "Decide");
  expect(entries.map(({ deed: { type }, cli }) => [type, cli])).toEqual([
    ["answer", "passrail gate approve r0a1b2c3d4e.1"],
    ["item", "passrail gate revise r0a1b2c3d4e.1"],
    ["item", "passrail gate reject r0a1b2c3d4e.1"],
    ["item", "passrail open /g/r0a1b2c3d4e.1"],
  ]);
});

test("of the run that is open only what can be done now is offered", () => {
  const acts = [
    { act: "pause", stage: null, why: null },
    { act: "resume", stage: null, why: "It is not paused." },
    { act: "rerun", stage: "build", why: null },
  ] as const;
  const entries = entriesOf({ ...nothing, run: { number: 12, acts: [...acts] } });
  expect(entries.filter(({ group }) => group === "This run").map(({ title, cli }) => [title, cli])).toEqual([
    ["Pause · run #12", "passrail runs pause 12"],
    ["Rerun from build · run #12", "passrail runs rerun 12 --from build"],
  ]);
});

test("a number opens that run, found or not, and only once; a text brings runs, tickets and flows", () => {
  const found = [{ number: 12, word: "qa", subject: { id: "F-1", title: "Add a login" } }];
  const titles = (known: Known) =>
    entriesOf(known)
      .filter(({ group }) => group === "Open")
      .map(({ title }) => title);
  expect(titles({ ...nothing, text: "#7" })).toEqual(["Run #7", "Flow feature: A feature"]);
  expect(titles({ ...nothing, text: "12", found })).toEqual([
    "Run #12: Add a login · qa",
    "Ticket F-1: Add a login",
    "Flow feature: A feature",
  ]);
  expect(titles(nothing)).toEqual([]);
});

test("no two entries have the same name", () => {
  const found = [1, 2].map((number) => ({ number, word: "qa", subject: { id: "F-1", title: "Same" } }));
  const titles = entriesOf({
    ...nothing,
    text: "same",
    found,
    item: gate,
    waiting: [{ ...gate, id: "r0a1b2c3d4e.2", stage: "start" }],
  }).map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

test("a ticket is found by its text, also before anything worked on it; a command only where its id is safe in a shell", () => {
  const found = [{ number: 3, word: "shipped", subject: { id: "$(rm)", title: "Old" } }];
  const tickets = [
    { id: "AGI-7", title: "Dark mode", word: "Backlog", file: {} },
    { id: "$(rm)", title: "Old", word: "shipped", file: null },
  ];
  const entries = entriesOf({ ...nothing, text: "a", found, tickets }).filter(({ deed }) => deed.type === "ticket");
  expect(entries.map(({ title, cli }) => [title, cli])).toEqual([
    ["Ticket AGI-7: Dark mode · Backlog", "passrail ticket show AGI-7"],
    ["Ticket $(rm): Old · shipped", undefined],
  ]);
  expect(entriesOf(nothing).find(({ title }) => title === "New ticket")?.cli).toContain("passrail ticket new");
});

test("every agent at work can be stopped from any page, and what nobody asked for is found", () => {
  const working = [{ runId: "r1", number: 7, title: "Long work", stage: "build" }];
  const looseEnds = [{ id: "stopped:r2", title: "Broken build", text: "It stopped." }];
  const entries = entriesOf({ ...nothing, working, looseEnds });
  expect(entries.find(({ deed }) => deed.type === "stop")).toMatchObject({
    title: "Stop build of #7 now: Long work",
    deed: { run: { id: "r1", number: 7 }, stage: "build" },
    cli: expect.stringContaining("passrail runs stop 7"),
  });
  expect(entries.find(({ deed }) => deed.type === "need")).toMatchObject({ deed: { id: "stopped:r2" } });
});
