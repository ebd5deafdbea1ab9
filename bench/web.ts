// The dashboard in a real browser with years of data: time until a page is usable, blocking time, number of elements, growth under a stream
// of events. A long list must cost only its visible part.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { attemptFiles } from "../src/attempt/attempt-files.ts";
import { buildProgram } from "../test/harness/build-program.ts";
import { PROGRAM } from "../test/harness/program.ts";
import { builtDashboard } from "../test/browser/built.ts";
import { openBrowser } from "../test/browser/browser.ts";
import { approveFiles } from "../test/harness/approve-files.ts";
import { until } from "../test/harness/until.ts";
import { fillStore } from "./big-store.ts";
import { inFolder, type Row } from "./measure.ts";
import type { Told } from "./serve.ts";
import { type Served, startServed } from "./served.ts";

const RUNS = 10_000;
const LOG_LINES = 100_000;
const AGENT_EVENTS = 50_000;
const FILES = 60;
const FILE_LINES = 120;
const READY_MS = 3000;
const ACTIVITY_READY_MS = 1500;
const ACTIVITY_BLOCK_MS = 200;
const NODES = 4000;
const GROWTH_MB = 20;
const EVENTS_PER_SECOND = 1000;

export type Amount = {
  readonly runs: number;
  /** Everything a page caches on purpose is loaded after this time; from then on it must not grow. */
  readonly warmMs: number;
  readonly rainMs: number;
};
export const LONG: Amount = { runs: RUNS, warmMs: 60_000, rainMs: 60_000 };
export const SHORT: Amount = { runs: 500, warmMs: 10_000, rainMs: 10_000 };

export async function measureWeb(base: string, { runs, warmMs, rainMs }: Amount): Promise<readonly Row[]> {
  await builtDashboard();
  await buildProgram();
  const browser = await openBrowser();
  try {
    return await inFolder(base, async (dir) => {
      const project = join(dir, "project");
      const home = join(dir, "home");
      makeProject(home, project, join(dir, "loud.mjs"));
      await fillStore(home, project, runs);
      const served = await startServed(home, project, [PROGRAM, "up", "--port", "0"]);
      const loud = await runLoud(served);
      const rows = [
        ...(await measurePage(browser, served, `${count(runs)} runs`, "/runs", "main a[href^='/runs/']")),
        ...(await measurePage(
          browser,
          served,
          `${count(LOG_LINES)} log lines`,
          `/runs/${loud}?tab=log&stage=spec&attempt=1&file=output`,
          "main [role=log]",
        )),
        ...(await measureActivity(browser, served, home, loud)),
        ...(await measurePage(
          browser,
          served,
          `${count(FILES * FILE_LINES)} diff lines`,
          `/runs/${loud}?tab=changes`,
          "main [data-index] code",
        )),
        ...(await measureScroll(browser, served, `/runs/${loud}?tab=changes`)),
      ];
      await served.end("SIGTERM");
      const busy = await startServed(home, project, [join(import.meta.dirname, "serve.ts"), home, project]);
      rows.push(...(await measureRain(browser, busy, warmMs, rainMs)));
      await busy.end("SIGKILL");
      return rows;
    });
  } finally {
    await browser.close();
  }
}

/** A project whose agents write very long output and very large diffs. */
function makeProject(home: string, project: string, agent: string): void {
  mkdirSync(project);
  const git = ["-C", project, "-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  execFileSync("git", [...git, "init", "-q", "-b", "main"]);
  execFileSync("git", [...git, "commit", "-q", "--allow-empty", "-m", "first"]);
  writeFileSync(agent, LOUD);
  writeFileSync(
    join(project, "passrail.yaml"),
    JSON.stringify({ agents: { "*": { command: [process.execPath, agent] } } }),
  );
  approveFiles(home, project);
}

const LOUD = `
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
const stage = process.env.PASSRAIL_STAGE;
const [, file, nonce] = /\`([^\`\\n]*verdict\\.json)\`[^]*?"nonce": "([^"]*)"/u.exec(readFileSync(0, "utf8"));
if (stage === "spec") {
  const lines = Array.from({ length: ${LOG_LINES} }, (_, at) => "\\u001b[3" + (at % 8) + "mline " + at + "\\u001b[0m of what an agent says while it works");
  process.stdout.write(lines.join("\\n") + "\\n");
}
if (stage === "build") {
  for (let file = 0; file < ${FILES}; file++)
    writeFileSync("file-" + file + ".ts", Array.from({ length: ${FILE_LINES} }, (_, at) => "export const value" + at + " = " + at + ";").join("\\n"));
  execFileSync("git", ["add", "-A"]);
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "much"]);
}
const verdict = { spec: "APPROVED", design: "APPROVED", build: "COMPLETE", qa: "SHIP" }[stage];
writeFileSync(file, JSON.stringify({ verdict, nonce }));
`;

async function runLoud(served: Served): Promise<number> {
  const started = (await call(served, "/api/runs", { flow: "feature", title: "Loud" })) as { run: Run };
  await call(served, `/api/inbox/${started.run.id}.1/answer`, { answer: "approve" });
  const { number } = started.run;
  await until(
    "the loud run waits to be shipped",
    async () => (((await call(served, `/api/runs/${number}`)) as Run).word === "review" ? true : undefined),
    120_000,
  );
  return number;
}

type Run = { readonly id: string; readonly number: number; readonly word: string };

async function call({ url, token }: Served, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "if-match": "*" };
  const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, sent);
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json();
}

async function measurePage(
  browser: Browser,
  served: Served,
  what: string,
  path: string,
  sign: string,
): Promise<readonly Row[]> {
  const page = await openPage(browser, served, path);
  await page.locator(sign).first().waitFor({ timeout: 60_000 });
  const ready = (await page.evaluate("performance.now()")) as number;
  const longest = (await page.evaluate("Math.max(0, ...window.longTasks)")) as number;
  const nodes = (await page.evaluate("document.querySelectorAll('*').length")) as number;
  const megabytes = await heapOf(await page.context().newCDPSession(page));
  await page.context().close();
  return [
    { name: `${what}: until it can be used`, value: ready, unit: "ms", limit: { is: "at most", value: READY_MS } },
    { name: `${what}: longest block`, value: longest, unit: "ms" },
    { name: `${what}: elements`, value: nodes, unit: "", limit: { is: "at most", value: NODES } },
    { name: `${what}: heap`, value: megabytes, unit: "MB" },
  ];
}

/** An attempt of fifty thousand events: its end is there at once, and going back through it blocks nothing. */
async function measureActivity(
  browser: Browser,
  served: Served,
  home: string,
  number: number,
): Promise<readonly Row[]> {
  const { id } = (await call(served, `/api/runs/${number}`)) as Run;
  writeFileSync(attemptFiles(home, id, "spec", 1).events, agentEvents());
  const page = await openPage(browser, served, `/runs/${number}?tab=activity&stage=spec&attempt=1`);
  const log = page.locator("main [role=log]");
  await log
    .getByText(`step ${AGENT_EVENTS / 5 - 1} `)
    .first()
    .waitFor({ timeout: 60_000 });
  const ready = (await page.evaluate("performance.now()")) as number;
  const nodes = (await page.evaluate("document.querySelectorAll('*').length")) as number;
  const block = async (): Promise<number> => (await page.evaluate("Math.max(0, ...window.longTasks)")) as number;
  const loading = await block();
  await page.evaluate("void (window.longTasks.length = 0)");
  await log.hover();
  for (let turn = 0; turn < SCROLLS; turn++) {
    await page.mouse.wheel(0, -3000);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }
  const scrolling = await block();
  await page.context().close();
  const what = `${count(AGENT_EVENTS)} events of an agent`;
  const most = (value: number) => ({ is: "at most", value }) as const;
  return [
    { name: `${what}: until it can be used`, value: ready, unit: "ms", limit: most(ACTIVITY_READY_MS) },
    { name: `${what}: longest block`, value: loading, unit: "ms", limit: most(ACTIVITY_BLOCK_MS) },
    { name: `${what}: elements`, value: nodes, unit: "", limit: most(NODES) },
    { name: `${what}, scrolled back: longest block`, value: scrolling, unit: "ms", limit: most(ACTIVITY_BLOCK_MS) },
  ];
}

const SCROLLS = 40;

/** A message, a command and an edit in turn, each with its result. */
function agentEvents(): string {
  const at = (step: number): string => new Date(Date.UTC(2026, 0, 1) + step * 1000).toISOString();
  const lines = Array.from({ length: AGENT_EVENTS / 5 }, (_, step) => [
    { type: "message", text: `step ${step} is to look at the next file and to test it` },
    {
      type: "tool.called",
      id: `c${step}`,
      name: "Bash",
      input: JSON.stringify({ command: `run ${step} && npm test` }),
    },
    { type: "tool.returned", id: `c${step}`, ok: step % 9 !== 0, output: `line\n`.repeat(step % 30) },
    {
      type: "tool.called",
      id: `e${step}`,
      name: "Edit",
      input: JSON.stringify({ file_path: `/src/file-${step}.ts`, old_string: "a\nb\n", new_string: `a\n${step}\n` }),
    },
    { type: "tool.returned", id: `e${step}`, ok: true, output: "ok" },
  ]);
  return lines
    .flatMap((events, step) => events.map((event) => `${JSON.stringify({ at: at(step), ...event })}\n`))
    .join("");
}

/** From the first line of a long diff to its last, by the wheel: elements come and go, and the page stays small. */
async function measureScroll(browser: Browser, served: Served, path: string): Promise<readonly Row[]> {
  const page = await openPage(browser, served, path);
  await page.locator("main [data-index] code").first().waitFor({ timeout: 60_000 });
  await page.evaluate("void (window.longTasks.length = 0)");
  let most = 0;
  let last = -1;
  for (let at = 0; at !== last; ) {
    last = at;
    await page.mouse.wheel(0, 4000);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    at = (await page.evaluate("Math.round(scrollY)")) as number;
    most = Math.max(most, await page.evaluate("document.querySelectorAll('*').length"));
  }
  const longest = (await page.evaluate("Math.max(0, ...window.longTasks)")) as number;
  await page.context().close();
  const what = `${count(FILES * FILE_LINES)} diff lines, scrolled`;
  return [
    { name: `${what}: longest block`, value: longest, unit: "ms" },
    { name: `${what}: most elements`, value: most, unit: "", limit: { is: "at most", value: NODES } },
  ];
}

const SAMPLES = 6;

/** A hundred runs commit without a pause under an open list. */
async function measureRain(browser: Browser, busy: Served, warmMs: number, rainMs: number): Promise<readonly Row[]> {
  const page = await openPage(browser, busy, "/runs");
  await page.locator("main a[href^='/runs/']").first().waitFor({ timeout: 60_000 });
  const session = await page.context().newCDPSession(page);
  busy.send("begin");
  await delay(warmMs);
  await page.evaluate("void (window.longTasks.length = 0)");
  const heaps = [await heapOf(session)];
  for (let sample = 0; sample < SAMPLES; sample++) {
    await delay(rainMs / SAMPLES);
    heaps.push(await heapOf(session));
  }
  const longest = (await page.evaluate("Math.max(0, ...window.longTasks)")) as number;
  const nodes = (await page.evaluate("document.querySelectorAll('*').length")) as number;
  const { events, tookMs } = JSON.parse(await busy.tell("end")) as Told;
  await page.context().close();
  const seconds = (warmMs + rainMs) / 1000;
  const note = `for ${seconds} s; heap in MB: ${heaps.map((heap) => heap.toFixed(1)).join(", ")}`;
  return [
    {
      name: "events rain: events",
      value: (events / tookMs) * 1000,
      unit: "/s",
      limit: { is: "at least", value: EVENTS_PER_SECOND },
    },
    {
      name: "events rain: growth of the heap",
      value: (heaps.at(-1) ?? 0) - (heaps[0] ?? 0),
      unit: "MB",
      limit: { is: "at most", value: GROWTH_MB },
      note,
    },
    { name: "events rain: longest block", value: longest, unit: "ms" },
    { name: "events rain: elements", value: nodes, unit: "", limit: { is: "at most", value: NODES } },
  ];
}

async function openPage(browser: Browser, { url, token }: Served, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(
    `if (location.protocol !== "about:") {
      sessionStorage.setItem("passrail.session", ${JSON.stringify(token)});
      window.longTasks = [];
      new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((each) => each.duration)))
        .observe({ type: "longtask", buffered: true });
    }`,
  );
  const page = await context.newPage();
  await page.goto(`${url}${path}`, { waitUntil: "commit" });
  return page;
}

/** Heap size after a garbage collection. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1024 / 1024;
}

/** A real delay: this measurement is over wall time. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
