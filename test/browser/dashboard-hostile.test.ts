// S16 in the dashboard: text of agents, tickets and files is text. Whatever it says, no dialog opens, nobody else is asked for anything, the
// page's policy has nothing to stop, and no element comes from it.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, itemOf, openDashboard, show, STRAIGHT, walk } from "./dashboard.ts";
import { overflowsOf } from "./faults.ts";
import { injected, openEverything } from "./injected.ts";
import { LONG, NAMES, PAYLOADS, TITLES } from "./payloads.ts";
import { tellStory } from "./told-story.ts";

const SLOW = 240_000;
const TICKET = `<img/src=x/onerror=alert(1)>`;
const WORD = "<img-src=x-onerror=alert(1)>";
const STORY = `v0.1:<svg/onload=alert(1)>`;

describe.skipIf(isBrowserMissing())("hostile text", () => {
  let dashboard: Dashboard;
  let pages: readonly string[];
  beforeAll(async () => {
    dashboard = await openDashboard();
    pages = await plant();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "S16: 30 payloads in titles, bodies, ids, verdicts, logs, branches, names of files, agents and people, and handoffs are text on every page, which they make no wider than a window of 320 to 1440 pixels",
    async () => {
      expect(PAYLOADS.length).toBeGreaterThanOrEqual(30);
      const { context, page, seen } = await dashboard.visit("/");
      const found: string[] = [];
      for (const path of pages) {
        // An address that is hostile itself is opened as one from a mail; the other pages by a step from the one before.
        await (path.includes("%") ? show(page, `${dashboard.daemon.url}${path}`) : walk(page, path));
        await openEverything(page);
        found.push(...(await injected(page)).map((what) => `${path}: ${what}`));
        found.push(...(await overflowsOf(page)).map((what) => `${path}: ${what}`));
        found.push(...seen.complaints.splice(0).map((what) => `${path}: ${what}`));
      }
      expect(found).toEqual([]);
      expect(seen.elsewhere).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test("S08: characters that hide are shown", async () => {
    const { context, page } = await dashboard.visit(`/tickets/${encodeURIComponent(TICKET)}`);
    await page.getByText("U+202E").first().waitFor();
    await page.getByText("U+200B").first().waitFor();
    await context.close();
  });

  /** Everything that can carry text carries all of it; the pages where it is shown. */
  async function plant(): Promise<readonly string[]> {
    const { daemon } = dashboard;
    const all = PAYLOADS.join("\n\n");
    const verdict = { agent: "IN1", feature_id: TICKET, verdict: "APPROVED", summary: PAYLOADS.slice(0, 12).join(" ") };
    const issues = PAYLOADS.map((text, at) => ({
      severity: "major",
      description: text,
      // As the diff names them, so that they stand beside their lines.
      file: `${at} ${NAMES[at] ?? ""}`,
      line: 1,
    }));
    dashboard.play({
      ...STRAIGHT,
      spec: [{ via: "text", text: `${all}\n\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\`` }],
      build: [{ verdict: "COMPLETE", summary: all.slice(0, 1500), write: written(), commit: true }],
      qa: [
        { verdict: "REVISE", issues },
        { verdict: "SHIP", summary: all.slice(0, 1500), issues },
      ],
    });
    const run = await dashboard.start("feature", TITLES[1] ?? "", { id: TICKET, body: all });
    const item = await itemOf(daemon, run.id);
    await dashboard.answer(run.id, "approve", all);
    for (const title of TITLES) await dashboard.start("feature", title, { body: all });
    const long = await startLong();
    const named = await playEvil();
    const handoff = await handOver(all);
    await dashboard.stands(run.number, "review");
    await dashboard.stands(long.number, "review");
    await until("the finding is there", async () =>
      (await itemOf(daemon, named.id)) === undefined ? undefined : true,
    );
    // The branch that the project is on, which anybody may have made.
    execFileSync("git", ["-C", daemon.project, "branch", "-m", "<img/src=x/onerror=alert(1)>"]);
    const ship = await itemOf(daemon, run.id);
    const tabs = ["activity", "timeline", "findings", "log", "changes", "history"];
    return [
      "/",
      `/?item=${ship}`,
      `/g/${ship}`,
      `/g/${item}`,
      "/board?flow=feature",
      `/board?flow=feature&ticket=${encodeURIComponent(TICKET)}`,
      "/runs",
      `/runs?q=${encodeURIComponent(PAYLOADS[0] ?? "")}`,
      ...tabs.map((tab) => `/runs/${run.number}?tab=${tab}&stage=spec&attempt=1`),
      `/runs/${run.number}?tab=${encodeURIComponent(PAYLOADS[1] ?? "")}&stage=${encodeURIComponent(PAYLOADS[3] ?? "")}`,
      "/tickets",
      `/tickets/${encodeURIComponent(TICKET)}`,
      `/tickets/${encodeURIComponent(STORY)}`,
      `/tickets/${encodeURIComponent(STORY)}?handoff=${handoff}`,
      `/flows/${encodeURIComponent("<svg onload=alert(1)>")}`,
      `/g/${await itemOf(daemon, named.id)}`,
      ...tabs.map((tab) => `/runs/${named.number}?tab=${tab}`),
      `/?item=${await itemOf(daemon, long.id)}`,
      ...tabs.map((tab) => `/runs/${long.number}?tab=${tab}&stage=spec&attempt=1`),
      `/tickets/${LONG}`,
      `/board?flow=feature&ticket=${LONG}`,
      `/compare?runs=${run.number},${long.number}`,
      "/work?view=graph",
      "/report",
      "/projects",
      "/flows",
      "/flows/evil",
      "/welcome",
      "/agents",
      "/workers",
      "/insights",
      "/settings",
      "/trust",
    ];
  }

  /** Git keeps names as they are; a file system does not take all of them. */
  function written(): Record<string, string> {
    return Object.fromEntries(NAMES.map((name, at) => [`${at} ${name}`, PAYLOADS[at] ?? ""]));
  }

  /** Names without a place to break them: of the ticket, its id, a file, and what agents and people say. */
  async function startLong(): Promise<{ id: string; number: number }> {
    const wrote = { [`src/${LONG}.ts`]: `const long = "${LONG}";` };
    const build = [{ verdict: "COMPLETE", summary: LONG, write: wrote, commit: true }];
    const issues = [{ severity: "minor", description: LONG, file: `src/${LONG}.ts`, line: 1 }];
    dashboard.play({ ...STRAIGHT, build, qa: [{ verdict: "SHIP", summary: LONG, issues }] });
    const run = await dashboard.start("feature", LONG, { id: LONG, body: `# ${LONG}\n\n\`${LONG}\`` });
    await dashboard.answer(run.id, "approve", LONG);
    return run;
  }

  /** A flow and an agent of a repository that wants more than to be read: their titles, what they are about, and who decides. */
  async function playEvil(): Promise<{ id: string; number: number }> {
    const folder = join(dashboard.daemon.project, ".passrail");
    mkdirSync(join(folder, "flows"), { recursive: true });
    mkdirSync(join(folder, "agents"), { recursive: true });
    const agent = `---\nname: evil\ndescription: ${JSON.stringify(PAYLOADS.slice(0, 8).join(" "))}\n---\n${PAYLOADS.join("\n")}\n`;
    writeFileSync(join(folder, "agents", "evil.md"), agent);
    const flow = {
      flow: "evil",
      version: 1,
      title: PAYLOADS[1],
      subject: "ticket",
      words: { verdict: { [WORD]: "pass" }, status: { completed: PAYLOADS[3] } },
      stages: [
        { id: "work", agent: "evil", status: PAYLOADS[0] },
        {
          id: "say",
          kind: "gate",
          who: PAYLOADS[2],
          status: PAYLOADS[1],
          route: { approve: "end", revise: { goto: "work" } },
        },
      ],
    };
    // YAML is a superset of JSON.
    writeFileSync(join(folder, "flows", "evil.yaml"), JSON.stringify(flow));
    dashboard.play({
      work: [{ verdict: WORD, summary: PAYLOADS[0], write: { [NAMES[1] ?? ""]: PAYLOADS[0] }, commit: true }],
    });
    return dashboard.start("evil", TITLES[0] ?? "");
  }

  /** The number of the handoff that holds it all. */
  async function handOver(text: string): Promise<number> {
    const story = await tellStory(dashboard.daemon, STORY, TITLES[3] ?? "", text);
    const payload = { plan: text, ...Object.fromEntries(PAYLOADS.map((each) => [each, each])) };
    const handoff = await story.hand("analyst", "implementer", payload);
    await story.reject(handoff, text);
    return handoff;
  }
});
