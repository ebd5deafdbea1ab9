// Ten thousand tickets: a page costs what it shows, not what there is. The files themselves are measured elsewhere (npm run bench).

import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import type { Ticket } from "../../../src/core/ticket/ticket.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { DEFAULT_PICK_RULES, type PickRules } from "../../../src/core/ticket/pick-rules.ts";
import { createKnownTickets } from "../../../src/http/server/tickets/known-tickets.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

const MANY = 10_000;
const tickets = Array.from(
  { length: MANY },
  (_, at): Ticket => ({
    id: `AGI-${at + 1}`,
    number: at + 1,
    title: `Number ${at + 1}`,
    description: "",
    body: "",
    repo: ".",
    status: at % 10 === 0 ? "Done" : "Backlog",
    // A chain as long as can be, and a crowd that waits for the first.
    dependsOn: at === 0 ? [] : [at % 2 === 0 ? "AGI-1" : `AGI-${at}`],
    group: null,
    variantHint: null,
    priority: null,
    workflow: null,
    flow: null,
    request: `FR-${(at % 50) + 1}`,
    path: `feature_requests/FR-${(at % 50) + 1}/AGI-${at + 1}.md`,
    hash: String(at),
    lastError: null,
    prUrl: null,
    conflict: null,
    source: null,
  }),
);

const rules = (): PickRules => DEFAULT_PICK_RULES;
let served: Served;
let tell = (): void => undefined;
let scan = { tickets, problems: [] };
const hinted: string[][] = [];
beforeAll(async () => {
  served = await serve();
  const desk = served.deps.tickets;
  if (desk === undefined) throw new Error("no tickets");
  const known = createKnownTickets({
    source: {
      folder: () => desk.known.folder(),
      look: async () => scan,
      listen(onChange) {
        tell = onChange;
        return () => undefined;
      },
      busy: () => new Set(),
      rules: () => rules,
    },
    onChange: (ids) => hinted.push([...ids]),
    onProblem: (error) => served.problems.push(String(error)),
  });
  served.app = createApp({ ...served.deps, tickets: { ...desk, known } }, { port: 4321 });
});
afterAll(() => served.close());

async function list(query: string) {
  return ROUTES.listTickets.answer.schema.parse((await served.call("GET", `/api/tickets${query}`)).body);
}

test("a page of 50 among 10,000 takes less than 100 ms, wherever it begins and whatever it looks for", async () => {
  await list("?limit=1");
  const times: number[] = [];
  for (let at = 0; at < 40; at++) {
    const from = performance.now();
    const page = await list(
      `?limit=50&before=f${MANY + 1 - at * 200}${["", "&q=7", "&state=waits", "&open=true"][at % 4]}`,
    );
    times.push(performance.now() - from);
    expect(page.tickets).toHaveLength(50);
  }
  // Others work on this machine, too: the middle says more than the worst.
  const middle = times.toSorted((a, b) => a - b)[20] ?? 0;
  expect(middle, `${middle.toFixed(1)} ms`).toBeLessThan(100);
});

test("page by page every ticket comes once, also when some are added meanwhile", async () => {
  const seen: string[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const page = await list(`?limit=200${next === "" ? "" : `&before=${next}`}`);
    seen.push(...page.tickets.map(({ id }) => id));
    next = page.next;
    if (seen.length === 1000) {
      const [first] = tickets;
      if (first === undefined) throw new Error("no ticket");
      const fresh = { ...first, id: `AGI-${MANY + 1}`, number: MANY + 1, hash: "new" };
      scan = { tickets: [...tickets, fresh], problems: [] };
      tell();
      await until("it is known", () => (hinted.length > 0 ? true : undefined));
    }
  }
  expect(seen).toHaveLength(MANY);
  expect(new Set(seen).size).toBe(MANY);
  expect(hinted).toEqual([[`AGI-${MANY + 1}`]]);
});

test("the neighbours of a ticket that thousands wait for, at the head of a long chain, are few and say so", async () => {
  const { body } = await served.call("GET", "/api/tickets/AGI-1");
  const { graph, file } = ROUTES.showTicket.answer.schema.parse(body);
  expect(graph.isCut).toBe(true);
  expect(graph.nodes.length).toBeLessThanOrEqual(61);
  expect(file?.dependents.length).toBeLessThanOrEqual(50);
});
