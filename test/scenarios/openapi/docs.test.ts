// The contract for people: the page that the server shows, and the tables in docs/api.md, which are written from the table of routes.
// After a change of routes: npx vitest run test/scenarios/openapi/docs.test.ts -u

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiRoute } from "../../../src/http/contract/route.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { grants, PRINCIPALS, SCOPES } from "../../../src/http/contract/scopes.ts";
import { type Served, serve } from "../http/served.ts";

const FILE = join(import.meta.dirname, "../../../docs/api.md");
const BEGIN = "<!-- written by test/scenarios/openapi/docs.test.ts: begin -->";
const END = "<!-- written by test/scenarios/openapi/docs.test.ts: end -->";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

test("S05: docs/api.md shows every scope with who has it, and every route with its scope", async () => {
  const text = readFileSync(FILE, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  expect(begin).toBeGreaterThan(0);
  expect(end).toBeGreaterThan(begin);
  await expect(`${text.slice(0, begin)}${BEGIN}\n\n${tables()}\n\n${text.slice(end)}`).toMatchFileSnapshot(FILE);
});

test("the page shows every route with its scope, what it takes and what can go wrong", async () => {
  const page = String((await served.call("GET", "/docs")).body["text"]);
  for (const { method, path, scope } of Object.values<ApiRoute>(ROUTES)) {
    expect(page).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
    expect(page).toContain(`Scope ${scope}:`);
  }
  expect(page).toContain(
    "header: <code>Idempotency-Key</code><br>path: <code>run</code>*<br>body: <code>stage</code>*, <code>note</code>",
  );
  expect(page).toContain("query: <code>q</code>*, <code>limit</code>, <code>after</code>");
  expect(page).toContain("run_not_found");
  expect(page).not.toMatch(/<script|style=|onclick/);
});

function tables(): string {
  const scopes = [
    `| scope | ${PRINCIPALS.join(" | ")} |`,
    `|---|${PRINCIPALS.map(() => "---|").join("")}`,
    ...SCOPES.map(
      (scope) => `| \`${scope}\` | ${PRINCIPALS.map((kind) => (grants(kind, scope) ? "yes" : "")).join(" | ")} |`,
    ),
  ];
  const routes = Object.entries<ApiRoute>(ROUTES).map(
    ([name, { method, path, scope, summary }]) =>
      `| \`${name}\` | \`${method.toUpperCase()} ${path}\` | \`${scope}\` | ${summary.replaceAll("|", "\\|")} |`,
  );
  return [
    "### Scopes",
    "",
    ...scopes,
    "",
    "### Routes",
    "",
    "| name | route | scope | |",
    "|---|---|---|---|",
    ...routes,
  ].join("\n");
}
