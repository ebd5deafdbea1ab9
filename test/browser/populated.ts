// A daemon with something of everything: runs in each state, every kind of item, a story with a rejected handoff, changes to look at.

import { until } from "../harness/until.ts";
import { type Dashboard, itemOf, STRAIGHT } from "./dashboard.ts";
import { tellStory } from "./told-story.ts";

export type Populated = {
  /** Every page once, by a name for its picture. */
  readonly pages: readonly (readonly [name: string, path: string])[];
  readonly ship: { readonly number: number; readonly item: string };
  readonly story: string;
  /** The numbers of a run that is done and not landed, and of one that works. */
  readonly done: number;
  readonly working: number;
};

const ISSUES = [
  { severity: "major", description: "The state of the login is not checked", file: "src/login.ts", line: 3 },
  { severity: "minor", description: "No test for an expired code" },
];
const CODE = `import { createHash } from "node:crypto";

export function check(code: string, known: ReadonlySet<string>): boolean {
  return known.has(createHash("sha256").update(code).digest("hex"));
}
`;
const TEST = `import { expect, test } from "vitest";
import { check } from "./login.ts";

test("a code that nobody was given opens nothing", () => {
  expect(check("1234", new Set())).toBe(false);
});
`;
const LOOPING = {
  ...STRAIGHT,
  build: [
    { verdict: "COMPLETE", write: { "src/login.ts": CODE, "docs/login.md": "# Login" }, commit: true },
    { verdict: "COMPLETE", write: { "src/login.test.ts": TEST }, commit: true },
  ],
  qa: [{ verdict: "REVISE", issues: ISSUES }, { verdict: "SHIP" }],
};
const STORY = "v0.1:2.3.1";

export async function populate(dashboard: Dashboard): Promise<Populated> {
  const { daemon } = dashboard;
  await dashboard.start("feature", "Dark mode for the report", {
    body: "As a **reader** I want it dark.\n\n- [ ] report",
  });
  dashboard.play(LOOPING);
  const ship = await begin("Login by a code");
  dashboard.play({ ...LOOPING, qa: [{ verdict: "REVISE", issues: ISSUES }] });
  const escalated = await begin("Export to a spreadsheet");
  dashboard.play(STRAIGHT);
  const done = await begin("Say hello");
  await dashboard.stands(done.number, "review");
  await dashboard.answer(done.id, "approve");
  await dashboard.stands(done.number, "shipped");
  dashboard.play({ spec: [{ via: "text", text: "QUESTIONS:\n1. For whom is it?\n2. By when?" }] });
  const asked = await dashboard.start("intake", "A search for tickets");
  await until("it asks", async () => (await itemOf(daemon, asked.id)) !== undefined || undefined);
  await dashboard.stands(ship.number, "review");
  await dashboard.stands(escalated.number, "escalated");
  dashboard.play({ ...STRAIGHT, design: [{ verdict: "APPROVED", sleepMs: 3600_000 }] });
  const held = await begin("Faster start");
  await dashboard.stands(held.number, "designing");
  await sendBack();
  dashboard.play(STRAIGHT);
  await daemon.call("POST", "/api/projects", { body: { folder: daemon.project, name: "own" } });

  const item = (await itemOf(daemon, ship.id)) ?? "";
  const other = async (id: string): Promise<string> => (await itemOf(daemon, id)) ?? "";
  const run = `/runs/${ship.number}`;
  return {
    ship: { number: ship.number, item },
    story: STORY,
    done: done.number,
    working: held.number,
    pages: [
      ["inbox", "/"],
      ["inbox-item", `/?item=${item}`],
      ["gate", `/g/${item}`],
      ["question", `/g/${await other(asked.id)}`],
      ["escalation", `/g/${await other(escalated.id)}`],
      ["board", "/board?flow=feature"],
      ["runs", "/runs"],
      ["run", run],
      ["run-activity", `${run}?tab=activity&stage=qa`],
      ["run-timeline", `${run}?tab=timeline&stage=build`],
      ["run-findings", `${run}?tab=findings`],
      ["run-log", `${run}?tab=log&stage=qa&attempt=1`],
      ["run-changes", `${run}?tab=changes`],
      ["run-history", `${run}?tab=history`],
      ["run-working", `/runs/${held.number}`],
      ["tickets", "/tickets"],
      ["ticket", `/tickets/${encodeURIComponent(await subjectOf(ship.number))}`],
      ["story", `/tickets/${encodeURIComponent(STORY)}`],
      ["flows", "/flows"],
      ["flow", "/flows/feature"],
      ["agents", "/agents"],
      ["workers", "/workers"],
      ["projects", "/projects"],
      ["insights", "/insights"],
      ["report", "/report"],
      ["settings", "/settings"],
      ["welcome", "/welcome"],
    ],
  };

  async function begin(title: string): Promise<{ id: string; number: number }> {
    const run = await dashboard.start("feature", title, { body: "What is wanted, in a few words." });
    await dashboard.answer(run.id, "approve");
    return run;
  }

  async function subjectOf(number: number): Promise<string> {
    return ((await daemon.call("GET", `/api/runs/${number}`)).body as unknown as { subject: { id: string } }).subject
      .id;
  }

  /** Agents outside; the reviewer has sent it back once. */
  async function sendBack(): Promise<void> {
    const story = await tellStory(daemon, STORY, "Log out everywhere");
    await story.hand("analyst", "implementer", { plan: "End all sessions", files_to_modify: ["src/logins.ts"] });
    const handed = { files_changed: ["src/logins.ts"], build_passes: true, summary: "Done" };
    await story.reject(await story.hand("implementer", "reviewer", handed), "Tests failing");
  }
}
