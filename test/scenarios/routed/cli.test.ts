// Source 001 as its readers call it: `run pipeline PROJECT "task"`, `run AGENT PROJECT "task"`, projects and the queue. The real program,
// a real store, real git; only the agents are scripted.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bench, openBench } from "../cli/bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const reviews = {
  route: [{ via: "text", text: '{"stages": [{"agent": "Builder"}, {"agent": "reviewer"}]}' }],
  builder: [{ write: { "a.txt": "1" }, commit: true }],
  reviewer: [{ via: "review-file", text: "Verdict: APPROVE\nScore: 9\n" }],
};

function folder(name: string): string {
  const dir = join(bench.dir, name);
  mkdirSync(dir);
  execFileSync("git", ["init", "-q", "-b", "main", dir]);
  const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
  execFileSync("git", ["-C", dir, ...who, "commit", "-q", "--allow-empty", "-m", "first"]);
  return dir;
}

describe("run", () => {
  test("R-001-08: run pipeline PROJECT routes the task and runs all stages in that project's folder", async () => {
    const shop = folder("shop");
    expect(await bench.passrail(["projects", "add", shop])).toMatchObject({ code: 0 });
    const ended = await bench.passrail([
      "run",
      "pipeline",
      "shop",
      "Fix the typo",
      "--agent",
      `*=${bench.player(reviews)}`,
    ]);
    expect(ended.err).toContain("✔ route: pass: builder, reviewer → builder\n");
    expect(ended.err).toContain("[pipeline] Stage 1/2: Running builder");
    expect(ended.err).toContain("[pipeline] Stage 2/2: reviewer completed");
    expect(ended.err).toContain("[pipeline] Pipeline complete");
    expect(ended.code).toBe(0);
    expect(execFileSync("git", ["-C", shop, "log", "--format=%s"], { encoding: "utf8" })).toContain("builder");
    expect(readFileSync(join(shop, ".brain/REVIEW.md"), "utf8")).toContain("APPROVE");
  });

  test("R-001-07, R-001-42: run AGENT PROJECT runs one stage without a router, as the name is written in its file", async () => {
    const shop = folder("shop");
    await bench.passrail(["projects", "add", shop]);
    const ended = await bench.passrail(["run", "BUILDER", "shop", "Fix it", "--agent", `*=${bench.player(reviews)}`]);
    expect(ended.err).toContain("[pipeline] Stage 1/1: Running builder");
    expect(ended.err).toContain("[pipeline] Stage 1/1: builder completed");
    expect(ended.err).not.toContain("BUILDER");
    expect(ended.code).toBe(0);
    const shown = JSON.parse((await bench.passrail(["runs", "events", "1", "--json"])).out) as {
      events: { type: string; stage?: string }[];
    };
    const started = shown.events.filter(({ type }) => type === "stage.started").map(({ stage }) => stage);
    expect(started).toEqual(["builder"]);
    // The one-stage pipeline by its long form gives the same exit code and the same lines.
    const long = await bench.passrail([
      "--cwd",
      shop,
      "run",
      "routed",
      "Fix it",
      "--input",
      "agent=builder",
      "--agent",
      `*=${bench.player(reviews)}`,
    ]);
    const lines = (text: string) => text.split("\n").filter((line) => line.startsWith("[pipeline]"));
    expect(long.code).toBe(ended.code);
    expect(lines(long.err)).toEqual(lines(ended.err));
  });

  test("a path names a project as well; without one the command works in the current folder", async () => {
    const shop = folder("shop");
    const agent = ["--agent", `*=${bench.player(reviews)}`];
    expect((await bench.passrail(["run", "builder", "../shop", "Fix it", ...agent])).code).toBe(0);
    expect(execFileSync("git", ["-C", shop, "log", "--format=%s"], { encoding: "utf8" })).toContain("builder");
    expect((await bench.passrail(["run", "builder", "Fix it", ...agent])).code).toBe(0);
    expect(execFileSync("git", ["-C", bench.project, "log", "--format=%s"], { encoding: "utf8" })).toContain("builder");
  });

  test("R-001-41: missing words are a usage error, unknown projects and agents name the known ones", async () => {
    await bench.passrail(["projects", "add", folder("shop")]);
    const cases: [readonly string[], number, string, readonly string[]][] = [
      [["run", "pipeline"], 2, "task_missing", ["passrail run"]],
      [["run", "pipeline", "shop"], 2, "task_missing", ["is a project"]],
      [["run", "builder", "shop", "a", "b"], 2, "excess_arguments", ["PROJECT"]],
      [["run", "pipeline", "shoop", "Fix it"], 1, "unknown_project", ['did you mean "shop"?', "known projects: shop"]],
      [
        ["run", "buildr", "shop", "Fix it"],
        1,
        "unknown_flow",
        ['did you mean "builder"?', "known agents:", "reviewer"],
      ],
      [["run", "pipeline", "./nowhere", "Fix it"], 1, "folder_not_found", ["nowhere"]],
      [["--project", "shoop", "queue"], 1, "unknown_project", ["shop"]],
    ];
    for (const [args, code, problem, texts] of cases) {
      const ended = await bench.passrail(args);
      expect([args, ended.code, ended.err]).toEqual([args, code, expect.stringContaining(`code ${problem}`)]);
      for (const text of texts) expect(ended.err).toContain(text);
    }
  });

  test("R-001-08: pipeline is no name for an agent", async () => {
    mkdirSync(join(bench.project, ".passrail/agents"), { recursive: true });
    writeFileSync(join(bench.project, ".passrail/agents/pipeline.md"), "---\nname: pipeline\n---\nDo it.\n");
    const ended = await bench.passrail(["run", "pipeline", "Fix it", "--agent", `*=${bench.player(reviews)}`]);
    expect(ended.err).toContain("Stage 1/2: Running builder");
    expect((await bench.passrail(["flow", "check", "routed"])).out).toContain("reserved_name");
  });
});

test("R-001-36: programs of the setting hooks learn what happens in a session", async () => {
  const hook = [process.execPath, "-e", 'process.stdin.on("data",d=>require("fs").appendFileSync("hooked.txt",d))'];
  writeFileSync(join(bench.project, "passrail.yaml"), `hooks:\n  session_end: [${JSON.stringify(hook)}]\n`);
  const ended = await bench.passrail(["run", "builder", "Fix it", "--agent", `*=${bench.player(reviews)}`]);
  expect(ended.code).toBe(0);
  const lines = readFileSync(join(bench.project, "hooked.txt"), "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: "session_end", stage: "builder", agent: "builder", attempt: 1, reason: "exited", project: bench.project },
  ]);
});

test("R-001-05: flow explain says without a model who may be chosen, which rule fires and why", async () => {
  const shown = await bench.passrail(["flow", "explain", "pipeline", "Fix the typo", "--json"]);
  expect(JSON.parse(shown.out)).toMatchObject({
    flow: "routed",
    routers: [
      {
        model: "haiku",
        maxTokens: 500,
        pool: ["architect", "builder", "reviewer", "scout"].map((agent) => ({ agent, why: "the flow names it" })),
        rules: [
          { rule: "research", fires: false },
          { rule: "small-change", fires: true, why: 'the task says "fix"' },
          { rule: "many-parts", fires: false },
          { rule: "default", fires: false },
        ],
      },
    ],
  });
  expect(JSON.parse(shown.out).routers[0].others).toEqual(expect.arrayContaining(["forge", "router", "worker", "in1"]));
});

test("R-001-09: a broken agent file is named when a run starts and when flows are checked", async () => {
  mkdirSync(join(bench.project, ".passrail/agents"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail/agents/bad.md"), "---\nname: [\n---\nDo it.\n");
  const ended = await bench.passrail(["run", "builder", "Fix it", "--agent", `*=${bench.player(reviews)}`]);
  expect(ended.code).toBe(0);
  expect(ended.err).toContain(".passrail/agents/bad.md:");
  const checked = await bench.passrail(["flow", "check", "routed"]);
  expect(checked).toMatchObject({ code: 1, out: expect.stringContaining(".passrail/agents/bad.md") });
});

test("R-001-16: a runner without teams is told when the flow is checked", async () => {
  writeFileSync(join(bench.project, "passrail.yaml"), "runner: codex\n");
  const checked = await bench.passrail(["flow", "check", "routed"]);
  expect(checked.out).toContain("warning teams_not_supported: codex cannot lead a team of agents");
});

describe("R-001-38: projects", () => {
  test("a name is kept with its folder, listed, and forgotten; the folder stays", async () => {
    const shop = folder("shop");
    expect((await bench.passrail(["projects", "add", shop, "--name", "Web.Shop_1"])).out).toContain("Web.Shop_1");
    // The same again changes nothing; another folder under the name is refused.
    expect((await bench.passrail(["projects", "add", shop, "--name", "web.shop_1"])).code).toBe(0);
    const taken = await bench.passrail(["projects", "add", folder("other"), "--name", "WEB.SHOP_1"]);
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining("project_exists") });
    expect(JSON.parse((await bench.passrail(["projects", "list", "--json"])).out)).toMatchObject({
      projects: [{ name: "Web.Shop_1", folder: shop, present: true }],
    });
    renameSync(shop, join(bench.dir, "moved"));
    expect((await bench.passrail(["projects", "list"])).out).toContain("folder is gone");
    const moved = await bench.passrail(["run", "builder", "Web.Shop_1", "Fix it"]);
    expect(moved).toMatchObject({ code: 1, err: expect.stringContaining("project_moved") });
    expect((await bench.passrail(["projects", "remove", "web.shop_1"])).code).toBe(0);
    expect((await bench.passrail(["projects", "list", "--json"])).out).toContain('"projects": []');
  });

  test("names of every object's properties are ordinary names; a damaged file is named, not skipped", async () => {
    expect((await bench.passrail(["projects", "add", bench.project, "--name", "constructor"])).code).toBe(0);
    expect((await bench.passrail(["--project", "toString", "queue"])).err).toContain("unknown_project");
    writeFileSync(join(bench.home, "projects/bad.json"), '{"name":"other","folder":"/"}');
    const ended = await bench.passrail(["projects", "list"]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("bad.json") });
  });

  test("two commands that add at once both stay", async () => {
    const dirs = ["a", "b", "c"].map(folder);
    await Promise.all(dirs.map((dir) => bench.passrail(["projects", "add", dir])));
    const listed = JSON.parse((await bench.passrail(["projects", "list", "--json"])).out) as {
      projects: { name: string }[];
    };
    expect(listed.projects.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });
});
