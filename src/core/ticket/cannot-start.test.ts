import { expect, test } from "vitest";
import { plainTicket as ticket } from "../../../test/harness/tickets.ts";
import { cannotStart, cannotStartLines, formatCannotStart } from "./cannot-start.ts";
import { planTickets } from "./plan.ts";
import type { Ticket, TicketProblem } from "./ticket.ts";

const list = (tickets: readonly Ticket[], problems: readonly TicketProblem[] = [], refused = new Map()) => {
  const scan = { tickets, problems };
  return cannotStart(scan, planTickets(scan, { busy: new Set(), busyBranches: new Set() }), refused);
};
const problem = (code: string, message: string, id?: string): TicketProblem => ({
  code,
  message,
  severity: "refused",
  path: `p/${id ?? "AGI-x"}.md`,
  line: 3,
  ...(id === undefined ? {} : { ticket: id }),
});

test("R-004-28, R-004-35, R-004-36, R-004-37, R-004-38: every ticket that no waiting will start is named with its reason and place", () => {
  const found = list(
    [
      ticket(1, { repo: "TBD" }),
      ticket(2, { dependsOn: ["AGI-9"] }),
      ticket(3, { dependsOn: ["AGI-4"] }),
      ticket(4, { dependsOn: ["AGI-3"] }),
      ticket(5, { dependsOn: ["AGI-1"] }),
      ticket(6),
      ticket(7, { status: "Blocked", repo: "TBD" }),
      ticket(8, { status: "Done", dependsOn: ["AGI-9"] }),
    ],
    [
      problem("unknown_dependency", "unknown dependency: there is no ticket AGI-9", "AGI-2"),
      problem("unknown_status", '"Backlgo" is not a ticket status', "AGI-10"),
      problem("yaml_syntax", "twice", "AGI-10"),
      problem("ticket_name", "the name says no number"),
      { ...problem("unknown_field", "kept", "AGI-6"), severity: "warning" },
    ],
  );
  expect(found.map(formatCannotStart)).toEqual([
    expect.stringMatching(/^AGI-1 \(.*AGI-1\.md\): repo is "TBD"/u),
    "AGI-2 (feature_requests/FR-1/AGI-2.md:3): unknown dependency: there is no ticket AGI-9",
    expect.stringContaining("AGI-3 (feature_requests/FR-1/AGI-3.md): tickets wait for each other in a circle"),
    expect.stringContaining("AGI-4 ("),
    'AGI-10 (p/AGI-10.md:3): "Backlgo" is not a ticket status',
    "p/AGI-x.md:3: the name says no number",
  ]);
});

test("a start that was refused is told with its hint; the ticket is named once", () => {
  const refused = new Map([
    ["AGI-1", { code: "x", message: "AGI-1 cannot start: no runner", hint: "name one\nor two" }],
  ]);
  expect(cannotStartLines(list([ticket(1), ticket(2)], [], refused))).toEqual([
    "1 ticket cannot start:",
    "  AGI-1 (feature_requests/FR-1/AGI-1.md): no runner (name one; or two)",
  ]);
});

test("many are counted, and the first twenty named", () => {
  const lines = cannotStartLines(list(Array.from({ length: 23 }, (_, at) => ticket(at + 1, { repo: "TBD" }))));
  expect(lines).toHaveLength(22);
  expect([lines[0], lines.at(-1)]).toEqual(["23 tickets cannot start:", "  and 3 more: passrail ticket list"]);
  expect(cannotStartLines([])).toEqual([]);
});
