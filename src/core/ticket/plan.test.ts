import { describe, expect, test } from "vitest";
import { plainTicket as ticket } from "../../../test/harness/tickets.ts";
import { dependencyCycles, dependentsById, formatCycle, isTerminal } from "./graph.ts";
import { branchesById, branchName } from "./branches.ts";
import { explainTicket, formatTicketProblem, planTickets } from "./plan.ts";
import { isActionable, isIntervention, TICKET_STATUSES } from "./status.ts";
import type { TicketStatus } from "./status.ts";
import type { Ticket, TicketProblem } from "./ticket.ts";

type Doing = { busy?: readonly string[]; busyBranches?: readonly string[]; problems?: readonly TicketProblem[] };

function plan(tickets: readonly Ticket[], { busy = [], busyBranches = [], problems = [] }: Doing = {}) {
  return planTickets({ tickets, problems }, { busy: new Set(busy), busyBranches: new Set(busyBranches) });
}

const states = (of: ReturnType<typeof plan>) =>
  Object.fromEntries([...of.tickets].map(([id, { state }]) => [id, state]));
const eligible = (of: ReturnType<typeof plan>) => of.eligible.map(({ id }) => id);

describe("R-004-37: eligible is actionable with every dependency Done or Canceled", () => {
  test.each(TICKET_STATUSES)("a dependency that is %s", (status) => {
    const found = plan([ticket(1, { status, repo: "shop" }), ticket(2, { dependsOn: ["AGI-1"] })]);
    const isOver = status === "Done" || status === "Canceled";
    expect(found.tickets.get("AGI-2")).toMatchObject(
      isOver ? { state: "eligible" } : { state: "waits", on: [{ ticket: "AGI-1", why: status }] },
    );
  });

  test("all of them count", () => {
    const done = ticket(1, { status: "Done" });
    expect(
      eligible(plan([done, ticket(2, { status: "Canceled" }), ticket(3, { dependsOn: ["AGI-1", "AGI-2"] })])),
    ).toEqual(["AGI-3"]);
    const found = plan([done, ticket(2), ticket(3, { dependsOn: ["AGI-1", "AGI-2"] })]);
    expect(found.tickets.get("AGI-3")).toMatchObject({ on: [{ ticket: "AGI-2" }], why: "waits for AGI-2 (Backlog)" });
  });

  test("R-004-37: an unknown dependency is unmet and named", () => {
    expect(plan([ticket(1, { dependsOn: ["AGI-999"] })]).tickets.get("AGI-1")).toMatchObject({
      state: "waits",
      on: [{ ticket: "AGI-999", why: "unknown dependency" }],
      why: "waits for AGI-999 (unknown dependency)",
    });
  });

  test("a dependency whose file is broken or in doubt is unmet, whatever it says", () => {
    const broken = { code: "yaml_syntax", message: "", severity: "refused", path: "p", ticket: "AGI-1" } as const;
    const waiting = ticket(2, { dependsOn: ["AGI-1"] });
    expect(plan([waiting], { problems: [broken] }).tickets.get("AGI-2")).toMatchObject({
      on: [{ ticket: "AGI-1", why: "its file is broken" }],
    });
    const double = { ...broken, code: "duplicate_id" } as const;
    expect(plan([ticket(1, { status: "Done" }), waiting], { problems: [double] }).tickets.get("AGI-2")).toMatchObject({
      on: [{ ticket: "AGI-1", why: "its file is in doubt" }],
    });
  });
});

describe("R-004-38: circles are named and block those in them", () => {
  test.each([
    ["itself", [["AGI-1"]], "AGI-1 → AGI-1"],
    ["two", [["AGI-2"], ["AGI-1"]], "AGI-1 → AGI-2 → AGI-1"],
    ["three", [["AGI-2"], ["AGI-3"], ["AGI-1"]], "AGI-1 → AGI-2 → AGI-3 → AGI-1"],
  ] as const)("security 54: %s", (_, edges, path) => {
    const found = plan([
      ...edges.map((dependsOn, at) => ticket(at + 1, { dependsOn })),
      ticket(8, { dependsOn: ["AGI-1"] }),
      ticket(9),
    ]);
    const [first] = found.tickets.values();
    for (const number of edges.keys())
      expect(found.tickets.get(`AGI-${number + 1}`)).toMatchObject({
        state: "refused",
        problem: { code: "dependency_cycle", ticket: `AGI-${number + 1}` },
      });
    const ids = path.split(" → ").slice(0, -1);
    const [message = ""] = [first].map((each) => each?.why);
    expect(message).toContain("circle: ");
    for (const id of ids) expect(message).toContain(id);
    expect(found.tickets.get("AGI-8")).toMatchObject({ state: "waits", on: [{ why: "Backlog, in a circle" }] });
    expect(eligible(found)).toEqual(["AGI-9"]);
  });

  test("a circle of which one part is over is none any more", () => {
    const found = plan([ticket(1, { dependsOn: ["AGI-2"], status: "Done" }), ticket(2, { dependsOn: ["AGI-1"] })]);
    expect(states(found)).toEqual({ "AGI-1": "ended", "AGI-2": "eligible" });
  });

  test("two circles that touch are one knot; a long path is cut", () => {
    const cycles = dependencyCycles([
      { id: "a", dependsOn: ["b"] },
      { id: "b", dependsOn: ["a", "c"] },
      { id: "c", dependsOn: ["b", "x"] },
      { id: "d", dependsOn: ["c"] },
    ]);
    expect([...cycles.keys()].sort()).toEqual(["a", "b", "c"]);
    expect(formatCycle(Array.from({ length: 50 }, (_, at) => `AGI-${at}`))).toMatch(/^AGI-0 .* … → AGI-47 .*AGI-49$/u);
  });
});

test("R-004-39: intervention, In Progress, Awaiting Merge, Done and Canceled are never picked", () => {
  const tickets = TICKET_STATUSES.map((status, at) => ticket(at + 1, { status }));
  const found = plan(tickets);
  expect(found.eligible.map(({ status }) => status)).toEqual(TICKET_STATUSES.filter(isActionable));
  for (const { id, status } of tickets) {
    const state = found.tickets.get(id)?.state;
    if (isIntervention(status)) expect(state).toBe("intervention");
    if (status.endsWith("In Progress")) expect(state).toBe("working");
  }
  expect(found.tickets.get("AGI-16")?.state).toBe("awaiting-merge");
  expect(found.tickets.get("AGI-18")?.state).toBe("ended");
});

describe("R-004-40: order and locks", () => {
  test("by priority, then by number, as numbers", () => {
    const found = plan([
      ticket(10),
      ticket(9),
      ticket(3, { priority: 5 }),
      ticket(4, { priority: 1 }),
      ticket(2, { priority: 5 }),
    ]);
    expect(eligible(found)).toEqual(["AGI-4", "AGI-2", "AGI-3", "AGI-9", "AGI-10"]);
    expect(found.tickets.get("AGI-9")).toMatchObject({ rank: 3 });
  });

  test("a ticket with a run that goes on is not picked again", () => {
    const found = plan([ticket(1, { status: "Needs Plan" }), ticket(2)], { busy: ["AGI-1"] });
    expect(states(found)).toEqual({ "AGI-1": "working", "AGI-2": "eligible" });
    expect(states(plan([ticket(1, { status: "Needs Human Review" })], { busy: ["AGI-1"] }))).toEqual({
      "AGI-1": "intervention",
    });
  });

  test("two tickets with one branch: only the first is eligible", () => {
    const found = plan([ticket(1, { group: "login" }), ticket(2, { group: "Login" }), ticket(3)]);
    expect(eligible(found)).toEqual(["AGI-1", "AGI-3"]);
    expect(found.tickets.get("AGI-2")).toMatchObject({
      state: "waits",
      on: [{ ticket: "AGI-1", why: "comes first on the same branch" }],
    });
  });

  test("a branch on which somebody works is not given to a second", () => {
    const tickets = [ticket(1, { group: "login", status: "Plan In Progress" }), ticket(2, { group: "login" })];
    expect(plan(tickets, { busy: ["AGI-1"] }).tickets.get("AGI-2")).toMatchObject({
      state: "waits",
      why: "AGI-1 works on the same branch (feat/login)",
    });
    expect(plan(tickets, { busyBranches: ["feat/login"] }).tickets.get("AGI-2")).toMatchObject({
      state: "waits",
      on: [],
      why: "another run works on the branch feat/login",
    });
  });

  test("whoever waits for a person does not keep the others of its group from their branch; an open pull request does", () => {
    const beside = (status: TicketStatus) =>
      states(plan([ticket(1, { group: "login", status }), ticket(2, { group: "login" })], { busy: ["AGI-1"] }))[
        "AGI-2"
      ];
    expect(beside("Blocked")).toBe("eligible");
    expect(beside("Needs Human Decision")).toBe("eligible");
    expect(beside("Awaiting Merge")).toBe("waits");
  });
});

test("R-004-43: terminal is what nobody lists; a group is the branch, else the id", () => {
  const tickets = [ticket(1), ticket(2, { dependsOn: ["AGI-1"] }), ticket(3, { dependsOn: ["AGI-1", "AGI-3"] })];
  expect(isTerminal("AGI-1", tickets)).toBe(false);
  expect(isTerminal("AGI-2", tickets)).toBe(true);
  expect(isTerminal("AGI-3", tickets)).toBe(true);
  expect(dependentsById(tickets).get("AGI-1")).toEqual(["AGI-2", "AGI-3"]);
  expect(branchName({ id: "AGI-1", group: "login" })).toBe("feat/login");
  expect(branchName({ id: "AGI-1", group: null })).toBe("feat/AGI-1");
});

test("R-004-30, R-004-43: variants of a chain share the group's branch; independent ones have their own and start side by side", () => {
  const variant = (number: number, given: Partial<Ticket> = {}) =>
    ticket(number, { group: "login", variantHint: `Variant ${number}`, ...given });
  const independent = [variant(1), variant(2), ticket(3, { group: "login" })];
  expect(Object.fromEntries(branchesById(independent))).toEqual({
    "AGI-1": "feat/login-AGI-1",
    "AGI-2": "feat/login-AGI-2",
    "AGI-3": "feat/login",
  });
  expect(plan(independent).eligible.map(({ id }) => id)).toEqual(["AGI-1", "AGI-2", "AGI-3"]);
  const chain = [variant(1), variant(2, { dependsOn: ["AGI-1"] }), variant(3)];
  expect([...branchesById(chain).values()]).toEqual(["feat/login", "feat/login", "feat/login-AGI-3"]);
  // Work that began on a branch stays there, and an author may choose the shared one.
  const begun = [
    variant(1, { branch: "feat/login" }),
    variant(2, { branch: "feat/login-AGI-2", dependsOn: ["AGI-1"] }),
  ];
  expect([...branchesById(begun).values()]).toEqual(["feat/login", "feat/login-AGI-2"]);
});

test("a ticket whose repository nobody named is not started, with the reason", () => {
  expect(plan([ticket(1, { repo: "TBD" })]).tickets.get("AGI-1")).toMatchObject({
    state: "refused",
    problem: { code: "repo_missing" },
    why: expect.stringContaining("TBD"),
  });
});

test("a refusing problem of the file keeps the ticket from starting, a warning does not", () => {
  const problem = { code: "invalid_group", message: "bad", severity: "refused", path: "p", ticket: "AGI-1" } as const;
  expect(plan([ticket(1)], { problems: [problem] }).tickets.get("AGI-1")).toMatchObject({ state: "refused", problem });
  expect(states(plan([ticket(1)], { problems: [{ ...problem, severity: "warning" }] }))).toEqual({
    "AGI-1": "eligible",
  });
});

test("why a ticket is not running is told line by line", () => {
  const problem = {
    code: "unknown_field",
    message: "x",
    severity: "warning",
    path: "p",
    line: 3,
    ticket: "AGI-2",
  } as const;
  const tickets = [ticket(1), ticket(2, { dependsOn: ["AGI-1", "AGI-8"], conflict: "the run says Done" })];
  const found = plan(tickets);
  const scan = { tickets, problems: [problem, { ...problem, ticket: "AGI-9", code: "ticket_not_text" }] };
  expect(explainTicket("AGI-2", scan, found)).toEqual([
    "AGI-2 (Backlog): waits for AGI-1 (Backlog), AGI-8 (unknown dependency)",
    "depends on AGI-1: Backlog",
    "depends on AGI-8: unknown dependency",
    "nothing depends on it",
    "branch: feat/AGI-2",
    "conflict: the run says Done",
    "p:3:1: unknown_field: x",
  ]);
  expect(explainTicket("AGI-1", scan, found)).toContain("place in line: 1 of 1");
  expect(explainTicket("AGI-9", scan, found)).toEqual(["AGI-9 cannot be read", "p:3:1: ticket_not_text: x"]);
  expect(explainTicket("AGI-5", scan, found)).toEqual(["there is no ticket AGI-5"]);
  expect(formatTicketProblem({ code: "c", message: "m", severity: "refused", path: "p" })).toBe("p: c: m");
});

test("a chain of 10,000 tickets and a circle of as many are planned without recursion", () => {
  const chain = Array.from({ length: 10_000 }, (_, at) =>
    ticket(at + 1, at === 9999 ? {} : { dependsOn: [`AGI-${at + 2}`] }),
  );
  expect(eligible(plan(chain))).toEqual(["AGI-10000"]);
  const circle = chain.map((each) => (each.number === 10_000 ? { ...each, dependsOn: ["AGI-1"] } : each));
  expect([...plan(circle).tickets.values()].every(({ state }) => state === "refused")).toBe(true);
});
