// A project's own flow for tickets decides which tickets start: in lists, for the dispatcher and in the API alike.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { shippedDir } from "../../../src/settings/site.ts";
import { createFlowRules } from "../../../src/ticket/pick/flow-rules.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { until } from "../../harness/until.ts";
import { OK, type Opened, openHere, openProject, openShort, type Project } from "./project.ts";

vi.setConfig({ testTimeout: 120_000 });

let project: Project | undefined;
let here: Opened | undefined;
afterEach(async () => {
  await here?.close();
  project?.remove();
  [project, here] = [undefined, undefined];
});

const SHIPPED = readFileSync(join(shippedDir, "flows/ticket.yaml"), "utf8");
const shippedLine = (key: string): RegExp => new RegExp(`^  ${key}: .*$`, "mu");

/** The shipped flow with other lines under `pick`. */
function override(own: Project, lines: Readonly<Record<string, string>>): void {
  let text = SHIPPED;
  for (const [key, value] of Object.entries(lines)) {
    expect(text).toMatch(shippedLine(key));
    text = text.replace(shippedLine(key), `  ${key}: ${value}`);
  }
  mkdirSync(join(own.project, ".passrail/flows"), { recursive: true });
  writeFileSync(join(own.project, ".passrail/flows/ticket.yaml"), text);
  approveFiles(own.home, own.project);
}

async function listed(own: Project): Promise<Readonly<Record<string, string>>> {
  const { out } = await own.passrail(["ticket", "list", "--json"]);
  const { tickets } = JSON.parse(out) as { tickets: readonly { id: string; state: string }[] };
  return Object.fromEntries(tickets.map(({ id, state }) => [id, state]));
}

test("R-004-37, R-004-39: `ticket list` follows satisfied, skip and needs of the project's flow", async () => {
  const own = openProject();
  project = own;
  own.ticket(1, { status: "Blocked" });
  own.ticket(2, { status: "Needs Plan", dependsOn: ["AGI-1"] });
  own.ticket(3, { status: "Backlog" });
  own.ticket(4, { status: "Done" });
  own.ticket(5, { status: "Needs Plan", dependsOn: ["AGI-4"] });
  const usual = {
    "AGI-1": "intervention",
    "AGI-2": "waits",
    "AGI-3": "eligible",
    "AGI-4": "ended",
    "AGI-5": "eligible",
  };
  expect(await listed(own)).toEqual(usual);
  override(own, { satisfied: "[Blocked]", skip: "[Backlog]" });
  expect(await listed(own)).toEqual({
    ...usual,
    "AGI-2": "eligible",
    "AGI-3": "intervention",
    "AGI-5": "waits",
  });
  expect((await own.passrail(["explain", "AGI-3"])).out).toContain("Backlog: a person has to act");
  override(own, { needs: "[actionable-status, branch-free]" });
  expect(await listed(own)).toEqual({ ...usual, "AGI-2": "eligible" });
});

test("keys of pick that no program reads, unknown statuses and needs that must stay are refused with a reason", async () => {
  const own = openProject();
  project = own;
  override(own, { satisfied: "[Doen]", skip: '[Blocked]\n  from: "elsewhere/*.md"', needs: "[actionable-status]" });
  const { code, out, err } = await own.passrail(["flow", "check", "ticket"]);
  expect(code).not.toBe(0);
  expect(out + err).toContain('"from" is not a key of pick');
  expect(out + err).toContain("tickets.folder");
  expect(out + err).toContain('"Doen" is not a ticket status');
  expect(out + err).toContain('pick.needs leaves out "branch-free"');
});

test("the dispatcher starts by the rules of the project's flow, also after an edit of the flow", async () => {
  const own = openShort({ "*": [OK] }, { tickets: { flow: "short", idle_sleep: "50ms" } });
  project = own;
  const file = join(own.project, ".passrail/flows/short.yaml");
  const short = readFileSync(file, "utf8");
  writeFileSync(file, `${short}pick: { satisfied: [Blocked], skip: [Needs Plan] }\n`);
  approveFiles(own.home, own.project);
  own.ticket(1, { status: "Blocked" });
  own.ticket(2, { status: "Needs Validate", dependsOn: ["AGI-1"] });
  own.ticket(3, { status: "Needs Plan" });
  own.ticket(4, { status: "Done" });
  own.ticket(5, { status: "Needs Validate", dependsOn: ["AGI-4"] });
  own.ticket(6, { status: "Needs Research" });
  here = await openHere(own);
  await until("AGI-2 is done", () => own.status(2) === "Done" || undefined, 60_000);
  await here.dispatcher.look();
  expect([3, 5, 6].map((number) => own.status(number))).toEqual(["Needs Plan", "Needs Validate", "Needs Research"]);
  writeFileSync(file, short);
  approveFiles(own.home, own.project);
  await until(
    "the others are done",
    () => [3, 5].every((number) => own.status(number) === "Done") || undefined,
    60_000,
  );
  expect(own.status(6)).toBe("Needs Research");
  expect(here.errors).toEqual([]);
});

test("R-004-54: a ticket that starts on top of an open pull request is given its branch", async () => {
  const own = openShort({ "*": [{ ...OK, write: { "made.txt": "1" }, commit: true }] });
  project = own;
  const file = join(own.project, ".passrail/flows/short.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}pick: { satisfied: [Done, Awaiting Merge] }\n`);
  approveFiles(own.home, own.project);
  own.ticket(1, { status: "Needs Validate" });
  here = await openHere(own);
  await until("AGI-1 is done", () => own.status(1) === "Done" || undefined, 60_000);
  own.ticket(1, { status: "Awaiting Merge" });
  own.ticket(2, { status: "Needs Validate", dependsOn: ["AGI-1"] });
  await until("AGI-2 is done", () => own.status(2) === "Done" || undefined, 60_000);
  const ticket = (await here.newestRun("AGI-2")).facts["ticket"] as { readonly contains: readonly string[] };
  expect(ticket.contains).toHaveLength(1);
});

test("rules are read again only when a flow has changed, and hold by default while it has errors", () => {
  const own = openProject();
  project = own;
  const rules = createFlowRules({ home: own.home, project: own.project, flow: "ticket" });
  const first = rules();
  expect(first(null).skip.has("Backlog")).toBe(false);
  expect(rules()).toBe(first);
  override(own, { skip: "[Backlog]" });
  expect(rules()).not.toBe(first);
  expect(rules()(null).skip.has("Backlog")).toBe(true);
  override(own, { skip: "[Backlogg]" });
  expect(rules()(null).skip.has("Backlog")).toBe(false);
});
