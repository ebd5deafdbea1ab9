// The dashboard as a person has it: the real daemon with scripted agents, and pages in a real browser that are watched for everything that must
// not happen: errors, dialogs, requests to others, and violations of the page's policy.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { JsonObject } from "../../src/core/json.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { type Running, startDaemonWith } from "../scenarios/daemon/running.ts";
import { until } from "../harness/until.ts";
import { giveBack, sharedBrowser } from "./browser.ts";
import { builtDashboard } from "./built.ts";

export type Dashboard = {
  readonly daemon: Running;
  readonly browser: Browser;
  /** From now on these scripts are what runs are played by. */
  play(script: Readonly<Record<string, unknown>>): void;
  /** An address that logs a browser in, once. */
  address(path?: string): Promise<string>;
  /** A browser of its own, logged in and on this page. */
  visit(path?: string, options?: VisitOptions): Promise<Visit>;
  /** By the API, for what a test does not look at. */
  start(flow: string, title: string, more?: Readonly<Record<string, unknown>>): Promise<{ id: string; number: number }>;
  /** Answers what a run waits for, by the API. */
  answer(run: string, answer: string, text?: string): Promise<void>;
  /** Until a run stands so, in its flow's word. */
  stands(number: number, word: string): Promise<void>;
  close(): Promise<void>;
};
/** `loadsAhead`: as browsers do that save no data. It takes 171 files and their compilation for each page that stays open for four seconds. */
export type VisitOptions = BrowserContextOptions & { readonly loadsAhead?: boolean };
export type Visit = {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly seen: Seen;
};
/** What was seen of what must not be. */
export type Seen = { readonly complaints: string[]; readonly elsewhere: string[]; readonly asked: string[] };

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" };
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
  reducedMotion: "reduce",
};

export const SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })";

/** Often enough for people; a daemon that answers all the time has no time for the work it is asked about. */
const POLL_MS = 50;

/** What agents of `feature` say when nothing goes wrong. */
export const STRAIGHT = {
  spec: [{ verdict: "APPROVED" }],
  design: [{ verdict: "APPROVED" }],
  build: [{ verdict: "COMPLETE", write: { "a.txt": "1" }, commit: true }],
  qa: [{ verdict: "SHIP" }],
};

/** `settings`: those of the project when the daemon starts. */
export async function openDashboard(settings: JsonObject = {}): Promise<Dashboard> {
  await builtDashboard();
  const [daemon, browser] = await Promise.all([startDaemonWith(settings), sharedBrowser()]);
  const dashboard: Dashboard = {
    daemon,
    browser,
    play(script) {
      const command = daemon.player(script).split(" ");
      writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify({ agents: { "*": { command } } }));
      approveFiles(daemon.home, daemon.project);
    },
    async address(path = "/") {
      const made = await daemon.call("POST", "/api/login-codes", { body: {} });
      return `${daemon.url}${path}#login=${String(made.body["code"])}`;
    },
    async visit(path = "/", { loadsAhead = false, ...options } = DESKTOP) {
      const context = await browser.newContext(options);
      if (!loadsAhead) await context.addInitScript(SAVES_DATA);
      const seen = await watch(context, daemon);
      const page = await context.newPage();
      await page.goto(await dashboard.address(path), { waitUntil: "domcontentloaded" });
      await page.getByRole("navigation", { name: "Main" }).waitFor();
      return { context, page, seen };
    },
    async start(flow, title, more = {}) {
      const started = await daemon.call("POST", "/api/runs", { body: { flow, title, ...more } });
      if (started.status !== 201) throw new Error(`the run was not started: ${started.text}`);
      return (started.body as unknown as { run: { id: string; number: number } }).run;
    },
    async answer(run, answer, text = "") {
      const item = await until(`run ${run} waits`, () => itemOf(daemon, run), 20_000, POLL_MS);
      const given = await daemon.call("POST", `/api/inbox/${item}/answer`, {
        body: { answer, text },
        headers: { "if-match": "*" },
      });
      if (given.status !== 200) throw new Error(`the answer was refused: ${given.text}`);
    },
    async stands(number, word) {
      const current = async () => String((await daemon.call("GET", `/api/runs/${number}`)).body["word"]);
      const isThere = async () => ((await current()) === word ? true : undefined);
      await until(`run ${number} is ${word}`, isThere, 60_000, POLL_MS);
    },
    async close() {
      await Promise.all(browser.contexts().map((context) => context.close()));
      giveBack(browser);
      await daemon.close();
    },
  };
  dashboard.play(STRAIGHT);
  return dashboard;
}

/** What a run waits for; undefined where it does not. */
export async function itemOf(daemon: Running, run: string): Promise<string | undefined> {
  const { items } = (await daemon.call("GET", "/api/inbox")).body as unknown as { items: Item[] };
  return items.find(({ runId }) => runId === run)?.id;
}

type Item = { readonly id: string; readonly runId: string };

/** Every page of a context, also those that it opens by itself. */
export async function watch(context: BrowserContext, daemon: Running): Promise<Seen> {
  const seen: Seen = { complaints: [], elsewhere: [], asked: [] };
  await context.addInitScript(() => {
    const told = globalThis as unknown as { addEventListener(name: string, told: (event: Violation) => void): void };
    type Violation = { effectiveDirective: string; blockedURI: string };
    // Tests that are not about taking a decision back do not wait for it. A page of nobody has no storage.
    const own = globalThis as unknown as { localStorage: { [name: string]: string }; location: { href: string } };
    if (own.location.href !== "about:blank") own.localStorage["passrail.undo"] ??= "0";
    told.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      console.error(`policy violated: ${effectiveDirective} ${blockedURI}`),
    );
  });
  context.on("weberror", (error) => seen.complaints.push(`error: ${error.error().message}`));
  context.on("dialog", (dialog) => {
    seen.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // A refusal by the API is an answer, which the page shows; the browser notes it all the same.
    if (message.text().startsWith("Failed to load resource") && message.location().url.includes("/api/")) return;
    seen.complaints.push(`console: ${message.text()}`);
  });
  context.on("request", (request) => {
    seen.asked.push(request.url());
    if (!request.url().startsWith(`${daemon.url}/`)) seen.elsewhere.push(request.url());
  });
  return seen;
}

/** Opens a page and waits until it has loaded everything. A silent network is no sign of that: the live connection never ends. */
export async function show(page: Page, address: string): Promise<void> {
  await page.goto(address, { waitUntil: "domcontentloaded" });
  await shown(page, address, "true");
}

/** Goes there as a link of the dashboard does, which is what people do most: what is loaded stays loaded. */
export async function walk(page: Page, path: string): Promise<void> {
  await page.evaluate(`(() => {
    globalThis.cameFrom = __TSR_ROUTER__.state.resolvedLocation;
    history.pushState({}, "", ${JSON.stringify(path)});
  })()`);
  await shown(page, path, ARRIVED);
}

/** In the page: the router has drawn another place, and it is the one where it wants to be. */
const ARRIVED = `(({ status, location, resolvedLocation: at }) =>
  status === "idle" && at !== undefined && at !== cameFrom && at.href === location.href)(__TSR_ROUTER__.state)`;

async function shown(page: Page, what: string, condition: string): Promise<void> {
  const isShown = async (): Promise<true | undefined> => {
    const text = await page.evaluate(`${condition} ? document.querySelector('main')?.innerText ?? '' : ''`);
    return String(text).trim() !== "" && !/Loading .*…|^…$/mu.test(String(text)) ? true : undefined;
  };
  await until(`${what} is shown`, isShown, 20_000, POLL_MS);
}
