// `node scripts/readme-pictures.ts`: makes the pictures of README and docs anew, from a real daemon over a small shop. Its agents speak as
// Claude Code does, its checks and commits are real.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContextOptions } from "playwright-core";
import { type Dashboard, itemOf, openDashboard } from "../test/browser/dashboard.ts";
import { approveFiles } from "../test/harness/approve-files.ts";
import { buildProgram } from "../test/harness/build-program.ts";
import { until } from "../test/harness/until.ts";
import { TICKETS, PROJECT, SCRIPTS, type Step } from "./readme-shop.ts";
import { ROOT } from "./report.ts";

const AGENT = join(ROOT, "test/fixtures/agents/coding-agent.mjs");
const FOLDER = join(ROOT, "docs/screenshots");
const WIDE = { viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 1.2, reducedMotion: "reduce" } as const;
const DESK = { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1.5, reducedMotion: "reduce" } as const;
const HAND = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
  reducedMotion: "reduce",
} as const;
/** An agent that answers within a millisecond looks like none. */
const STEP_MS = 900;

type Begun = { readonly id: string; readonly number: number };
type Scene = { readonly item: string; readonly live: number };

await buildProgram();
const dashboard = await openDashboard();
try {
  const scene = await setTheScene(dashboard);
  mkdirSync(FOLDER, { recursive: true });
  const decide = { path: `/?item=${scene.item}`, sign: "Ship “Round prices to five cents”?" };
  const live = { path: `/runs/${scene.live}`, sign: "The tax has to be rounded as well" };
  const board = { path: "/work?view=board", sign: "Vouchers at the checkout" };
  await shoot(dashboard, { ...decide, file: "inbox.png", as: WIDE });
  await shoot(dashboard, { ...live, file: "run.png", as: { ...DESK, colorScheme: "dark" } });
  await shoot(dashboard, { ...board, file: "board.png", as: DESK });
  await shoot(dashboard, { path: `/g/${scene.item}`, sign: decide.sign, file: "phone.png", as: HAND });
} finally {
  await dashboard.close();
}

async function setTheScene(on: Dashboard): Promise<Scene> {
  const { daemon } = on;
  commitAll(PROJECT);
  const done = await begin("Show the SKU of a product", SCRIPTS.straight);
  await on.stands(done.number, "review");
  await on.answer(done.id, "approve");
  const escalated = await begin("Export orders as CSV", SCRIPTS.escalates);
  await on.stands(escalated.number, "escalated");
  const rounded = await begin("Round prices to five cents", SCRIPTS.rounds);
  await on.stands(rounded.number, "review");
  const asked = await begin("Newsletter opt-in at the checkout", SCRIPTS.asks);
  await until("it asks", async () => ((await itemOf(daemon, asked.id)) === undefined ? undefined : true), 90_000);
  await addTickets();
  const searching = await begin("Search by product name", SCRIPTS.designs);
  await on.stands(searching.number, "designing");
  const live = await begin("Cart totals include the tax", SCRIPTS.works);
  await on.stands(live.number, "building");
  return { item: (await itemOf(daemon, rounded.id)) ?? "", live: live.number };

  async function begin(title: string, script: Readonly<Record<string, readonly (readonly Step[])[]>>): Promise<Begun> {
    const file = join(daemon.dir, `${title.replaceAll(" ", "-")}.json`);
    writeFileSync(file, JSON.stringify(paced(script, file)));
    const agents = { "*": { runner: "claude", model: "opus", command: [process.execPath, AGENT, file] } };
    const checks = { tests: ["node", "--test"] };
    const settings = { agents, checks, merge: { mode: "merge" }, budgets: { day: { usd: 25 } } };
    writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify(settings));
    approveFiles(daemon.home, daemon.project);
    const run = await on.start("feature", title, { body: `${title}, as the shop asked for it.` });
    await on.answer(run.id, "approve");
    return run;
  }

  async function addTickets(): Promise<void> {
    const ids: string[] = [];
    for (const { title, body, after } of TICKETS) {
      const dependsOn = after === undefined ? [] : [ids[after] ?? ""];
      const made = await daemon.call("POST", "/api/tickets", { body: { title, body, dependsOn } });
      if (made.status !== 201) throw new Error(`the ticket was not made: ${made.text}`);
      ids.push((made.body as unknown as { id: string }).id);
    }
  }

  function commitAll(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(daemon.project, name)), { recursive: true });
      writeFileSync(join(daemon.project, name), text);
    }
    const git = ["-C", daemon.project, "-c", "user.name=shop", "-c", "user.email=shop@localhost"];
    execFileSync("git", [...git, "add", ...Object.keys(files)]);
    execFileSync("git", [...git, "commit", "-q", "-m", "Set up the shop"]);
  }
}

/** Puts a pause before each step: a file that appears in its time. */
function paced(script: Readonly<Record<string, readonly (readonly Step[])[]>>, file: string): object {
  let pauses = 0;
  const pause = (): Step => {
    pauses += 1;
    const sign = `${file}.${pauses}`;
    void sleep(pauses * STEP_MS).then(() => writeFileSync(sign, ""));
    return { until: sign };
  };
  const pacedSteps = (steps: readonly Step[]) => steps.flatMap((step) => [pause(), step]);
  return Object.fromEntries(Object.entries(script).map(([stage, visits]) => [stage, visits.map(pacedSteps)]));
}

type Shot = {
  readonly path: string;
  /** A text that is there when the page is. */
  readonly sign: string;
  readonly file: string;
  readonly as: BrowserContextOptions;
};

async function shoot(of: Dashboard, { path, sign, file, as }: Shot): Promise<void> {
  const { context, page } = await of.visit(path, as);
  await page.getByText(sign).first().waitFor({ timeout: 60_000 });
  await page.evaluate("document.fonts.ready");
  // Colours of code come from a worker, rows of a list after they were measured.
  await page.waitForTimeout(2500);
  await page.screenshot({ path: join(FOLDER, file) });
  await context.close();
}
