// What a person comes for: nineteen tasks, each from the home page in at most three clicks, and again by keyboard alone, against the real daemon.
// The browser counts; each row ends with what the daemon or git says about it. Agents are stand-ins that speak the formats of Claude Code and
// Codex, read by the real runners. One daemon and one page for all.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { command, type Counted, countActs, counted, tabTo } from "./counted.ts";
import { type Dashboard, itemOf, openDashboard, PHONE, show, type Visit } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 240_000;
const AGENTS = join(import.meta.dirname, "../fixtures/agents");
const TRACES = join(import.meta.dirname, "../fixtures/traces");
type Started = { readonly id: string; readonly number: number };
type Way = "mouse" | "keys";
type Alive = { readonly pid: number; readonly slots: number; readonly attempts: readonly unknown[] };
/** A person looks before the next press. */
const STEP_MS = 150;
const WHO = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];

/** As Claude Code tells it: a builder that changes a file, once and again, and a reviewer that is content. */
const work = (file: string, usd: number) => ({
  build: ["two", "zwei"].map((word) => [
    says(`I write ${file}.`, 2000),
    { write: { path: file, text: `one\n${word}\nthree\n` } },
    { submit: { verdict: "DONE", summary: `It says ${word}.` } },
    { result: { total_cost_usd: usd } },
  ]),
  review: [[says("I look at the change.", 1000), { submit: { verdict: "APPROVED", summary: "It is fine." } }]],
});
/** The same of Codex. */
const spoken = (text: string) => ({
  print: { type: "item.completed", item: { id: `item_${text.length}`, type: "agent_message", text } },
});
const CODEX_STARTS = [
  { print: { type: "thread.started", thread_id: "01a1e066-6f5f-7580-a9e7-320dc08ccbfb" } },
  { print: { type: "turn.started" } },
];
/** What Codex prints when its model refuses it. */
const REFUSED = [{ trace: join(TRACES, "codex/e400.jsonl") }, { exit: 1 }];
const ASKS = "QUESTIONS:\n1. For whom is it?";
/** What Claude Code prints while it works; it goes on when a file is there. */
const says = (text: string, tokens: number) => ({
  print: {
    type: "assistant",
    parent_tool_use_id: null,
    message: {
      id: `m-${tokens}`,
      model: "scripted-model",
      content: [{ type: "text", text }],
      usage: { input_tokens: tokens, output_tokens: 10 },
    },
  },
});

describe.skipIf(isBrowserMissing())("nineteen tasks", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  let page: Page;
  let go: string;
  let scripts = 0;
  const table: [task: string, clicks: number, keys: number, letters: number][] = [];
  const runs = new Map<string, Started>();

  const rail = () => page.getByRole("navigation", { name: "Main" });
  const dialog = () => page.getByRole("dialog");
  const need = (text: string) => page.locator("[data-need]").filter({ hasText: text });
  const decision = () => page.getByRole("region", { name: "Decision" });
  const run = (title: string): Started => runs.get(title) ?? { id: "", number: 0 };
  const api = async (path: string) => (await dashboard.daemon.call("GET", `/api/${path}`)).body;
  const runOf = (title: string) => api(`runs/${run(title).number}`);
  const eventually = (what: string, is: () => Promise<boolean>) =>
    until(what, async () => ((await is()) ? true : undefined), 60_000);

  /** From now on agents are played by what speaks the format of this program. Each script has its own file, which counts its starts. */
  function played(runner: "claude" | "codex", script: object): string {
    const file = join(dashboard.daemon.dir, `talk-${(scripts += 1)}.json`);
    writeFileSync(file, JSON.stringify(script));
    const program = join(AGENTS, runner === "claude" ? "coding-agent.mjs" : "replay.mjs");
    const settings = { agents: { "*": { runner, command: [process.execPath, program, file] } } };
    writeFileSync(join(dashboard.daemon.project, "passrail.yaml"), JSON.stringify(settings));
    approveFiles(dashboard.daemon.home, dashboard.daemon.project);
    return file;
  }
  function ticket(id: string, head: string): void {
    const file = join(dashboard.daemon.project, "feature_requests/FR-1", `${id}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `---\nid: ${id}\nrepo: .\n${head}\n---\n\nDo it.\n`);
  }
  async function begin(flow: string, title: string): Promise<void> {
    runs.set(title, await dashboard.start(flow, title));
  }

  beforeAll(async () => {
    dashboard = await openDashboard();
    go = join(dashboard.daemon.dir, "go");
    for (const title of ["Approve one", "Approve two", "Comment one", "Comment two"]) {
      // Work that another run has landed already needs no merge.
      const file = title === "Approve two" ? "src/other.ts" : "src/hello.ts";
      played("claude", work(file, title === "Comment two" ? 3.5 : 0.25));
      await begin("quick", title);
    }
    played("claude", { spec: [[{ say: ASKS }]] });
    await begin("intake", "Ask one");
    played("codex", [{ trace: join(TRACES, "codex/happy.jsonl"), says: ASKS }]);
    await begin("intake", "Ask two");
    played("codex", REFUSED);
    for (const title of ["Stuck one", "Stuck two"]) await begin("quick", title);
    for (const title of ["Failed one", "Failed two"]) await begin("checklist", title);
    ticket("AGI-7", "title: First of all\nstatus: Blocked");
    ticket("AGI-8", "title: In between\nstatus: Backlog\ndependsOn: [AGI-7]");
    ticket("AGI-9", "title: Last of all\nstatus: Backlog\ndependsOn: [AGI-8]");
    for (const [id, hint] of Object.entries({ "AGI-20": "with a table", "AGI-21": "with a list" }))
      ticket(id, `title: Report ${hint}\nstatus: Backlog\ngroup: report\nvariantHint: ${hint}`);
    for (const title of ["Approve one", "Approve two", "Comment one", "Comment two", "Ask one", "Ask two"])
      await eventually(`${title} waits`, async () => (await itemOf(dashboard.daemon, run(title).id)) !== undefined);
    for (const title of ["Stuck one", "Stuck two"])
      await eventually(`${title} escalates`, async () => (await itemOf(dashboard.daemon, run(title).id)) !== undefined);
    for (const title of ["Failed one", "Failed two"])
      await eventually(`${title} stops`, async () => (await runOf(title))["status"] === "stopped");
    played("claude", {
      "*": [[says("Reading the tests", 1000), { until: go }, says("Writing the code", 5000), { hang: true }]],
    });
    await begin("quick", "Live one");
    played("codex", [
      ...CODEX_STARTS,
      spoken("Reading the tests"),
      { until: go },
      spoken("Writing the code"),
      { hang: true },
    ]);
    await begin("quick", "Live two");
    visit = await dashboard.visit("/");
    ({ page } = visit);
    await countActs(page);
  }, SLOW);
  afterAll(async () => {
    console.log(["task · clicks · keys · letters", ...table.map((row) => row.join(" · "))].join("\n"));
    await dashboard.close();
  });

  /** To the home page as it is when a person opens it. */
  async function home(): Promise<void> {
    if ((await dialog().count()) > 0) {
      // What failed before must not hide what comes next.
      await show(page, `${dashboard.daemon.url}/`);
      await countActs(page);
    }
    await page.evaluate("history.pushState({}, '', '/'); document.activeElement?.blur(); scrollTo(0, 0)");
    await page.getByRole("heading", { name: /^Needs you \(/u }).waitFor();
    await counted(page);
  }

  /** Both ways of one task, with what each cost. */
  async function task(name: string, ways: Readonly<Record<Way, () => Promise<void>>>): Promise<void> {
    const cost = async (way: Way): Promise<Counted> => {
      await home();
      await ways[way]();
      return counted(page);
    };
    const { clicks } = await cost("mouse");
    const { clicks: strayed, keys, letters } = await cost("keys");
    table.push([name, clicks, keys, letters]);
    expect([name, clicks <= 3, strayed], `${clicks} clicks`).toEqual([name, true, 0]);
  }

  /** By keys from entry to entry, and into the one with this text. */
  async function enter(title: string): Promise<void> {
    await need(title).waitFor();
    const here = page.locator("[data-need]:focus");
    // Entries come and go: each step looks where the wanted one is by now.
    for (let pressed = 0; pressed < 40; pressed += 1) {
      const wanted = await need(title).getAttribute("data-need");
      if ((await here.count()) > 0 && (await here.getAttribute("data-need")) === wanted) break;
      const rows = await page.locator("[data-need]").evaluateAll(rowsOf);
      const [to, from] = [rows.findIndex(({ id }) => id === wanted), rows.findIndex(({ isHere }) => isHere)];
      await page.keyboard.press(to > from || (to === from && from === 0) ? "j" : "k");
      await page.waitForTimeout(STEP_MS);
    }
    await page.keyboard.press("Enter");
    await page.locator("#decision-head:focus").waitFor();
  }
  const approved = (title: string) => async () =>
    (await itemOf(dashboard.daemon, run(title).id)) === undefined && (await runOf(title))["status"] === "completed";
  /** The change is on the page with the decision, and the verbs are in the window beside it. */
  async function evidence(file: string, line: string): Promise<void> {
    await decision()
      .getByText(file.split("/").at(-1) ?? "")
      .first()
      .waitFor({ state: "attached" });
    await decision().getByText(line, { exact: true }).first().waitFor({ state: "attached" });
    const box = await decision().getByRole("button", { name: "Approve" }).boundingBox();
    expect((box?.y ?? Number.NaN) + (box?.height ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
  }

  test(
    "13, 12, 18, 11: look at a live agent, steer it, change its budget, stop it",
    async () => {
      const working = (title: string) => page.locator(`[data-working="${run(title).number}"]`);
      const log = page.getByRole("log", { name: "Activity of build #1" });
      await working("Live one").getByText("Reading the tests").waitFor({ timeout: 60_000 });
      await working("Live two").getByText("Reading the tests").waitFor({ timeout: 60_000 });
      // The next line comes by itself, and so does what it used: nothing asks for it.
      visit.seen.asked.length = 0;
      writeFileSync(go, "");
      await working("Live one").getByText("Writing the code").waitFor({ timeout: 20_000 });
      await working("Live one").getByText("tokens", { exact: false }).waitFor();
      expect(visit.seen.asked.filter((url) => url.endsWith("/api/now")).length).toBeLessThan(4);
      await task("look at a live log", {
        mouse: async () => {
          await working("Live one").getByRole("link").click();
          await log.getByText("Writing the code").waitFor();
        },
        keys: async () => {
          await command(page, "Live two", /^Run #[0-9]+: Live two/u);
          await log.getByText("Writing the code").waitFor();
        },
      });
      const said = (title: string) => async () =>
        JSON.stringify((await runOf(title))["messages"]).includes("Be brief.");
      await task("steer a running agent", {
        mouse: async () => {
          await working("Live one").getByRole("link").click();
          await page.getByLabel("Say something to the agent of build").click();
          await page.keyboard.type("Be brief.");
          await page.getByRole("button", { name: "Send", exact: true }).click();
          await eventually("it was said", said("Live one"));
        },
        keys: async () => {
          await command(page, "Live two", /^Run #[0-9]+: Live two/u);
          await page.getByLabel("Say something to the agent of build").waitFor();
          await page.keyboard.press("m");
          await page.keyboard.type("Be brief.");
          await page.keyboard.press("Control+Enter");
          await eventually("it was said", said("Live two"));
        },
      });
      const limit = (title: string) => async () =>
        ((await runOf(title))["limit"] as { usd: number } | undefined)?.usd === 60;
      const dollars = dialog().getByLabel("Dollars, for the whole run");
      await task("change a budget", {
        mouse: async () => {
          await working("Live one").getByRole("link").click();
          await page.getByRole("button", { name: "Change budget" }).click();
          await dollars.fill("60");
          await dialog().getByRole("button", { name: "Set the budget" }).click();
          await eventually("the budget is set", limit("Live one"));
        },
        keys: async () => {
          await command(page, "Live two", /^Run #[0-9]+: Live two/u);
          await page.getByRole("button", { name: "Change budget" }).waitFor();
          await page.keyboard.press("b");
          await dollars.waitFor();
          await page.keyboard.press("Control+a");
          await page.keyboard.type("60");
          await page.keyboard.press("Enter");
          await eventually("the budget is set", limit("Live two"));
        },
      });
      const isPaused = (title: string) => async () => (await runOf(title))["paused"] === true;
      await task("stop one agent now", {
        mouse: async () => {
          await page.getByRole("button", { name: `Stop build of #${run("Live one").number} now` }).click();
          await dialog()
            .getByRole("button", { name: /^Stop now/u })
            .click();
          await working("Live one").waitFor({ state: "detached" });
          await eventually("it is paused", isPaused("Live one"));
        },
        keys: async () => {
          await command(page, "stop build", /^Stop build of #[0-9]+ now: Live two/u);
          await dialog().getByText("Ends the agent at once and pauses the run.", { exact: false }).waitFor();
          await tabTo(page, dialog().getByRole("button", { name: /^Stop now/u }));
          await page.keyboard.press("Enter");
          await working("Live two").waitFor({ state: "detached" });
          await eventually("it is paused", isPaused("Live two"));
        },
      });
      for (const title of ["Live one", "Live two"])
        await dashboard.daemon.call("POST", `/api/runs/${run(title).number}/cancel`, { body: {} });
    },
    SLOW,
  );

  test(
    "1, 16: approve with the evidence in sight, and merge what was approved",
    async () => {
      await task("approve with evidence", {
        mouse: async () => {
          await need("Approve one").click();
          await evidence("src/hello.ts", "two");
          await decision().getByRole("button", { name: "Approve" }).click();
          await eventually("it is approved", approved("Approve one"));
        },
        keys: async () => {
          await enter("Approve two");
          await evidence("src/other.ts", "two");
          await page.keyboard.press("Control+Enter");
          await eventually("it is approved", approved("Approve two"));
        },
      });
      const lands = (title: string) => async () => !JSON.stringify((await api("inbox"))["looseEnds"]).includes(title);
      // Where people look for it: in the branch of the project itself.
      const merged = (title: string, file: string) => async () => {
        const found = execFileSync("git", ["-C", dashboard.daemon.project, "ls-tree", "-r", "--name-only", "HEAD"]);
        return String(found).split("\n").includes(file) && (await lands(title)());
      };
      for (const title of ["Approve one", "Approve two"])
        await eventually(`${title} can be merged`, async () => !(await lands(title)()));
      await task("merge", {
        mouse: async () => {
          await need("Approve one").click();
          await page.getByRole("button", { name: "Merge: Approve one" }).click();
          await dialog().getByRole("button", { name: "Merge", exact: true }).click();
          await eventually("it is in the branch of the project", merged("Approve one", "src/hello.ts"));
        },
        keys: async () => {
          await enter("Approve two");
          await tabTo(page, page.getByRole("button", { name: "Merge: Approve two" }));
          await page.keyboard.press("Enter");
          await tabTo(page, dialog().getByRole("button", { name: "Merge", exact: true }));
          await page.keyboard.press("Enter");
          await eventually("it is in the branch of the project", merged("Approve two", "src/other.ts"));
        },
      });
    },
    SLOW,
  );

  test(
    "2, 3, 4, 19: send back with a comment on a line, answer, resolve an escalation, retry",
    async () => {
      const line = page.getByRole("button", { name: "Comment on line 2 of src/hello.ts" });
      const built = (title: string) => async () => {
        const prompt = await api(`runs/${run(title).number}/attempts/build/2/prompt`);
        return String(prompt["text"]).includes("Say it in words.");
      };
      await task("request changes with a line comment", {
        mouse: async () => {
          await need("Comment one").click();
          await decision()
            .getByText(/(?:hello|other)\.ts/u)
            .first()
            .waitFor({ state: "attached" });
          await page.mouse.move(900, 300);
          await eventually("the line is in sight", async () => {
            if ((await line.count()) > 0) return true;
            await page.mouse.wheel(0, 300);
            return false;
          });
          await line.click();
          await page.locator("textarea:focus").waitFor();
          await page.keyboard.type("Say it in words.");
          await page.keyboard.press("Control+Enter");
          await page.getByText("1 line comment is sent with your decision.").waitFor();
          await decision().getByRole("button", { name: "Request changes" }).click();
          await eventually("the builder gets the comment", built("Comment one"));
        },
        keys: async () => {
          await enter("Comment two");
          await decision()
            .getByText(/(?:hello|other)\.ts/u)
            .first()
            .waitFor({ state: "attached" });
          await page.keyboard.press("n");
          await page.locator('button[aria-label^="Comment on line"]:focus').waitFor();
          await page.keyboard.press("Enter");
          await page.locator("textarea:focus").waitFor();
          await page.keyboard.type("Say it in words.");
          await page.keyboard.press("Control+Enter");
          await page.getByText("1 line comment is sent with your decision.").waitFor();
          await tabTo(page, decision().getByRole("button", { name: "Request changes" }), "Shift+Tab");
          await page.keyboard.press("Enter");
          await eventually("the builder gets the comment", built("Comment two"));
        },
      });
      const field = page.getByLabel("The agent gets your answer word for word");
      const answered = (title: string) => async () =>
        JSON.stringify(await api(`runs/${run(title).number}/events`)).includes("For operators.");
      await task("answer a question", {
        mouse: async () => {
          await need("Ask one").click();
          await field.click();
          await page.keyboard.type("For operators.");
          await page.getByRole("button", { name: "Send the answer" }).click();
          await eventually("it is answered", answered("Ask one"));
        },
        keys: async () => {
          await enter("Ask two");
          await tabTo(page, field);
          await page.keyboard.type("For operators.");
          await page.keyboard.press("Control+Enter");
          await eventually("it is answered", answered("Ask two"));
        },
      });
      await task("resolve an escalation", {
        mouse: async () => {
          await need("Stuck one").click();
          await decision().getByRole("button", { name: "Cancel" }).click();
          await eventually("it is resolved", async () => (await runOf("Stuck one"))["status"] === "canceled");
        },
        keys: async () => {
          await enter("Stuck two");
          await tabTo(page, decision().getByRole("button", { name: "Cancel" }));
          await page.keyboard.press("Enter");
          await eventually("it is resolved", async () => (await runOf("Stuck two"))["status"] === "canceled");
        },
      });
      const tried = (title: string) => async () => {
        const { stages } = (await runOf(title)) as unknown as { stages: { attempts: unknown[] }[] };
        return stages.some(({ attempts }) => attempts.length > 1);
      };
      await task("retry a failed run", {
        mouse: async () => {
          await need("Failed one").click();
          await page.getByRole("button", { name: "Again: Failed one" }).click();
          await dialog().getByRole("button", { name: "Again" }).click();
          await eventually("it is tried again", tried("Failed one"));
        },
        keys: async () => {
          await enter("Failed two");
          await tabTo(page, page.getByRole("button", { name: "Again: Failed two" }));
          await page.keyboard.press("Enter");
          await tabTo(page, dialog().getByRole("button", { name: "Again" }));
          await page.keyboard.press("Enter");
          await eventually("it is tried again", tried("Failed two"));
        },
      });
    },
    SLOW,
  );

  test(
    "5, 7, 14: why a ticket does not start, two variants side by side, a new ticket",
    async () => {
      const row = (text: string) => page.getByRole("row").filter({ hasText: text });
      const root = async () => {
        await row("Last of all").getByText("all wait for").waitFor();
        await row("Last of all").getByText("a person has to act", { exact: false }).waitFor();
      };
      await task("why does AGI-9 not start", {
        mouse: async () => {
          await rail().locator('a[href="/work"]').click();
          await root();
        },
        keys: async () => {
          await page.keyboard.press("g");
          await page.keyboard.press("t");
          await root();
        },
      });
      const variants = page.getByRole("table", { name: "Variants" });
      const both = async () => {
        for (const hint of ["with a table", "with a list"]) await variants.getByText(hint).first().waitFor();
      };
      await task("compare two variants", {
        mouse: async () => {
          await rail().locator('a[href="/work"]').click();
          await row("Report with a table").getByRole("link").first().click();
          await both();
        },
        keys: async () => {
          await command(page, "AGI-21", /^Ticket AGI-21/u);
          await both();
        },
      });
      const written = (title: string) => async () => JSON.stringify(await api("tickets")).includes(title);
      await task("create a ticket", {
        mouse: async () => {
          await rail().locator('a[href="/work"]').click();
          await page.getByRole("button", { name: "New ticket" }).click();
          await dialog().getByLabel("Title").waitFor();
          await page.keyboard.type("Made by mouse");
          await dialog().getByRole("button", { name: "Create" }).click();
          await eventually("it is there", written("Made by mouse"));
        },
        keys: async () => {
          await page.keyboard.press("g");
          await page.keyboard.press("t");
          await page.getByRole("button", { name: "New ticket" }).waitFor();
          await page.keyboard.press("c");
          await dialog().getByLabel("Title").waitFor();
          await page.keyboard.type("Made by keys");
          await page.keyboard.press("Enter");
          await eventually("it is there", written("Made by keys"));
        },
      });
    },
    SLOW,
  );

  test(
    "15: a flow is started with a model for one stage and a budget, after a look at what would run; what is wrong is said beside its field",
    async () => {
      const told = `${played("claude", { "*": [[{ say: "On it." }, { hang: true }]] })}.log`;
      writeFileSync(told, "");
      await task("start a flow", {
        mouse: async () => {
          await rail().getByRole("link", { name: "Flows" }).click();
          await page.getByRole("button", { name: "Start quick", exact: true }).click();
          await dialog().getByLabel("Title").waitFor();
          await page.keyboard.type("Begun by mouse");
          await dialog().getByRole("button", { name: "Start", exact: true }).click();
          await page.waitForURL("**/runs/*");
        },
        keys: async () => {
          await command(page, "flow quick", /^Flow quick/u);
          await tabTo(page, page.getByRole("button", { name: "Start a run" }));
          await page.keyboard.press("Enter");
          await dialog().getByLabel("Title").waitFor();
          await page.keyboard.type("Begun by keys");
          await tabTo(page, dialog().getByText("Agents, models, workspace, budget"));
          await page.keyboard.press("Enter");
          await tabTo(page, dialog().getByLabel("build · builder: model"));
          await page.keyboard.type("opus");
          await tabTo(page, dialog().getByLabel("Budget in dollars"));
          await page.keyboard.type("lots");
          await dialog().getByText("Enter an amount above 0, or nothing.").waitFor();
          await page.keyboard.press("Control+a");
          await page.keyboard.type("70");
          const plan = dialog().getByText(/^Dry run: [0-9]+ stages · worktree · at most \$70\.00$/u);
          await tabTo(page, plan);
          await page.keyboard.press("Enter");
          await dialog().getByRole("listitem").filter({ hasText: "build" }).getByText("claude opus").waitFor();
          await dialog().getByText("--model 'build=opus' --usd 70 --dry-run", { exact: false }).waitFor();
          expect(await faultsOf(page)).toEqual([]);
          await picture(page, "start-light");
          await tabTo(page, dialog().getByRole("button", { name: "Start", exact: true }));
          await page.keyboard.press("Enter");
          await page.waitForURL("**/runs/*");
          await page.locator("[data-cost]").getByText("of $70.00").waitFor();
        },
      });
      const models = () =>
        readFileSync(told, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => (JSON.parse(line) as { args: string[] }).args.find((arg) => arg.startsWith("--model")));
      await eventually("both agents work, one with the model", async () => models().length === 2);
      expect(models().filter((model) => model === "--model=opus")).toHaveLength(1);
    },
    SLOW,
  );

  test(
    "6, 8, 9, 10, 17: why nothing starts, what costs most, what today costs, stop everything, who is alive",
    async () => {
      const store = openSqliteStore({ file: join(dashboard.daemon.home, "passrail.db") });
      const hold = async (): Promise<void> => {
        const [since, end] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
        const reason = "<b>You have hit your limit</b>";
        const by = { runId: null, by: "engine" } as const;
        await store.setHold({
          runner: "codex",
          account: "",
          cause: "quota",
          reason,
          since: since ?? "",
          until: end ?? "",
          ...by,
        });
        // Any event makes the page look; otherwise it does so a few times a minute.
        for (const act of ["pause", "resume"])
          await dashboard.daemon.call("POST", `/api/runs/${run("Comment one").number}/${act}`, { body: {} });
      };
      const banner = page.getByRole("region", { name: "Agents that are out" });
      const lifted = async () => (await store.holds()).every(({ runner }) => runner !== "codex");
      await hold();
      await task("why does nothing start", {
        mouse: async () => {
          await banner.getByText(/^codex is over its quota · until /u).waitFor({ timeout: 40_000 });
          await banner.getByRole("button", { name: "It works again" }).click();
          await eventually("the hold is lifted", lifted);
          await banner.waitFor({ state: "detached" });
          await hold();
        },
        keys: async () => {
          await banner.getByText(/^codex is over its quota · until /u).waitFor({ timeout: 40_000 });
          await tabTo(page, banner.getByRole("button", { name: "It works again" }));
          await page.keyboard.press("Enter");
          await eventually("the hold is lifted", lifted);
        },
      });
      store.close();
      const dearest = async () => {
        await page.waitForURL("**/runs?sort=-cost");
        const rows = page.getByRole("table").getByRole("row");
        await rows.nth(1).getByText("Comment two").waitFor();
        const costs = (await rows.allInnerTexts())
          .flatMap((text) => /\$(?<usd>[0-9.]+)/u.exec(text)?.[1] ?? [])
          .map(Number);
        expect(costs).toEqual(costs.toSorted((one, other) => other - one));
        // One has cost more than the others, and is the first.
        expect([costs.length > 4, (costs[0] ?? 0) > (costs[1] ?? 0)]).toEqual([true, true]);
      };
      await task("the run that costs most", {
        mouse: async () => {
          await rail().getByRole("link", { name: "Runs" }).click();
          await page.getByRole("columnheader", { name: /^Cost/u }).getByRole("button").click();
          await dearest();
        },
        keys: async () => {
          await command(page, "cost most", /^Show the runs that cost most/u);
          await dearest();
        },
      });
      const spent = async () => ((await api("now")) as unknown as { today: { usd: number } }).today.usd;
      expect(await spent()).toBeGreaterThan(7);
      const today = async () => {
        const sum = (await spent()).toFixed(2).replace(".", "\\.");
        // Attempts that did not report their cost make it "at least".
        await rail()
          .getByText(new RegExp(`Today (?:≥ )?\\$${sum} of \\$`, "u"))
          .waitFor();
      };
      await task("the cost of today", { mouse: today, keys: today });
      const allPaused = async () => (await api("now"))["paused"] !== null;
      const resume = async () => {
        await dashboard.daemon.call("POST", "/api/resume", { body: {} });
        await rail().getByRole("button", { name: "Pause everything" }).waitFor();
      };
      await task("stop everything", {
        mouse: async () => {
          await rail().getByRole("button", { name: "Pause everything" }).click();
          await dialog().getByRole("button", { name: "Pause everything" }).click();
          await eventually("everything is paused", allPaused);
          await resume();
        },
        keys: async () => {
          await command(page, "pause every", /^Pause everything/u);
          await tabTo(page, dialog().getByRole("button", { name: "Pause everything" }));
          // Without a connection it says so at once, and does nothing later.
          await visit.context.setOffline(true);
          await page.keyboard.press("Enter");
          await dialog().getByText("The daemon does not answer.").waitFor();
          await visit.context.setOffline(false);
          expect(await allPaused()).toBe(false);
          await tabTo(page, dialog().getByRole("button", { name: "Pause everything" }));
          await page.keyboard.press("Enter");
          await eventually("everything is paused", allPaused);
          await resume();
        },
      });
      const alive = async () => {
        const [worker] = ((await api("workers")) as unknown as { workers: Alive[] }).workers;
        if (worker === undefined) throw new Error("there is no worker");
        expect(worker.pid).toBe(dashboard.daemon.process.child.pid);
        await page.getByText(`process ${worker.pid}`, { exact: false }).waitFor();
        await page.getByText(`${worker.attempts.length} of ${worker.slots} slots in use`, { exact: false }).waitFor();
        for (const title of ["Begun by mouse", "Begun by keys"])
          await page.getByRole("row").filter({ hasText: title }).getByText("build, attempt 1").waitFor();
      };
      await task("which workers are alive", {
        mouse: async () => {
          await rail().getByRole("link", { name: "Settings" }).click();
          await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Workers" }).click();
          await alive();
        },
        keys: async () => {
          await page.keyboard.press("g");
          await page.keyboard.press("w");
          await alive();
        },
      });
      expect(table).toHaveLength(19);
      expect([visit.seen.complaints, visit.seen.elsewhere]).toEqual([[], []]);
    },
    SLOW,
  );

  test(
    "a branch that somebody moves is named beside the buttons before anybody decides; a pause voids no decision; the undo covers no comment",
    async () => {
      await eventually(
        "it waits again",
        async () => (await itemOf(dashboard.daemon, run("Comment one").id)) !== undefined,
      );
      const item = (await itemOf(dashboard.daemon, run("Comment one").id)) ?? "";
      await show(page, `${dashboard.daemon.url}/?item=${item}`);
      await decision().getByRole("button", { name: "Approve" }).waitFor();
      for (const act of ["pause", "resume"])
        await dashboard.daemon.call("POST", `/api/runs/${run("Comment one").number}/${act}`, { body: {} });
      const { work } = (await api(`inbox/${item}`)) as unknown as { work: { branch: string; workspace: string }[] };
      const place = work.at(-1)?.workspace ?? "";
      execFileSync("git", ["-C", place, ...WHO, "commit", "--allow-empty", "-qm", "by somebody"]);
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
      await decision().getByText("Look at it again before you decide.").waitFor({ timeout: 60_000 });
      await decision().getByText("The branch moved to another commit.").waitFor();
      await decision().getByRole("button", { name: "I have looked at it again" }).click();
      await decision().getByText("The branch moved after the last stage.").waitFor();
      await picture(page, "moved-light");
      expect(await faultsOf(page)).toEqual([]);
      // With time to take it back: the bar is in sight, and over no field of what comes next.
      await page.evaluate("localStorage['passrail.undo'] = '30'");
      const other = (await itemOf(dashboard.daemon, run("Comment two").id)) ?? "";
      await decision().getByRole("button", { name: "Approve" }).click();
      const bar = page.getByRole("region", { name: "What you asked for" });
      await bar.getByText("Comment one").waitFor();
      await page.locator(`[data-need="${other}"]`).click();
      const [at, over] = await Promise.all([bar.boundingBox(), decision().getByRole("textbox").first().boundingBox()]);
      expect(overlap(at, over)).toBe(false);
      await page.keyboard.press("z");
      await bar.waitFor({ state: "detached" });
      expect(await itemOf(dashboard.daemon, run("Comment one").id)).toBe(item);
      await page.evaluate("localStorage['passrail.undo'] = '0'");
    },
    SLOW,
  );

  test("put off with a key, the same on a phone, which has four tabs and the rest behind More; and back with two clicks", async () => {
    await show(page, `${dashboard.daemon.url}/?kind=tickets`);
    await need("First of all").waitFor();
    await page.keyboard.press("e");
    await need("First of all").waitFor({ state: "detached" });
    const phone = await dashboard.visit("/?kind=tickets", PHONE);
    await phone.page.getByText("Nothing of this kind needs you.").waitFor();
    const tabs = phone.page.getByRole("navigation", { name: "Main" });
    expect(await tabs.getByRole("link").count()).toBe(3);
    await tabs.getByRole("button", { name: "More" }).tap();
    await picture(phone.page, "more-phone");
    expect(await faultsOf(phone.page)).toEqual([]);
    await phone.page.getByRole("dialog").getByRole("link", { name: "Flows" }).tap();
    await phone.page.getByRole("button", { name: "Start quick", exact: true }).tap();
    await phone.page.getByRole("dialog").getByText("Agents, models, workspace, budget").tap();
    await phone.page.getByRole("dialog").getByLabel("build · builder: model").waitFor();
    await picture(phone.page, "start-phone");
    expect(await faultsOf(phone.page)).toEqual([]);
    expect([phone.seen.complaints, phone.seen.elsewhere]).toEqual([[], []]);
    await phone.context.close();
    await page.getByRole("link", { name: /^Later/u }).click();
    await page.getByRole("button", { name: "Show it again now" }).click();
    await page.getByRole("link", { name: /^Later/u }).waitFor({ state: "detached" });
  });
});

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

function overlap(one: Box | null, other: Box | null): boolean {
  if (one === null || other === null) throw new Error("it is not there");
  const apart =
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y;
  return !apart;
}

type NeedRow = { getAttribute(name: string): string | null; hasAttribute(name: string): boolean };

/** In the page. */
function rowsOf(found: readonly unknown[]): { id: string | null; isHere: boolean }[] {
  return (found as readonly NeedRow[]).map((row) => ({
    id: row.getAttribute("data-need"),
    isHere: row.hasAttribute("aria-current"),
  }));
}
