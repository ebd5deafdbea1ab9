import { expect, test } from "vitest";
import type { PlannedTicket, TicketPlan } from "./plan.ts";
import { rootObstacle } from "./root-obstacle.ts";

const waits = (...ids: readonly string[]) => ({
  state: "waits",
  on: ids.map((ticket) => ({ ticket, why: "Backlog" })),
});
const plan = (tickets: Readonly<Record<string, object>>): TicketPlan => ({
  tickets: new Map(Object.entries(tickets) as [string, PlannedTicket][]),
  eligible: [],
});

test("the end of the chain is the ticket that needs a person; what is named already is not named twice; a circle ends", () => {
  const person = { state: "intervention", why: "Blocked: a person has to act" };
  const chain = plan({
    A: person,
    B: waits("A"),
    C: waits("B"),
    D: waits("X", "C"),
    E: waits("F"),
    F: { state: "working" },
  });
  expect(rootObstacle(chain, "C")).toEqual({ ticket: "A", why: "Blocked: a person has to act" });
  expect(rootObstacle(chain, "D")?.ticket).toBe("A");
  for (const id of ["A", "B", "E", "nobody"]) expect(rootObstacle(chain, id)).toBeNull();
  expect(rootObstacle(plan({ A: waits("B"), B: waits("A") }), "A")).toBeNull();
});
