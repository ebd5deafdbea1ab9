// A plan is started from the command line, over the API and over MCP, with the same checks and the same sign-off.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { hasTerminal, openTerminal } from "../../harness/terminal.ts";
import { type Bench, CLI, openBench } from "../cli/bench.ts";
import { type Served, serve } from "../http/served.ts";
import { HAPPY, INPUT, planSaying, SPEC, TASK } from "./plan-bench.ts";

let bench: Bench | undefined;
let served: Served | undefined;
afterEach(async () => {
  bench?.remove();
  await served?.close();
  bench = undefined;
  served = undefined;
});

function writePlan(project: string, complexity = "simple"): void {
  mkdirSync(join(project, "docs"));
  // The scripted developer cites it as evidence.
  writeFileSync(join(project, "README.md"), "# project\n");
  writeFileSync(join(project, "docs/spec.md"), SPEC);
  writeFileSync(join(project, "docs/plan.md"), planSaying(`Complexity: ${complexity}`));
  writeFileSync(join(project, "docs/task.md"), TASK);
  execFileSync("git", ["-C", project, "add", "-A"]);
  execFileSync("git", ["-C", project, "-c", "user.name=t", "-c", "user.email=t@l", "commit", "-q", "-m", "plan"]);
}

const FILES: readonly string[] = ["docs/spec.md", "docs/plan.md", "docs/task.md"];

test("R-002-01, R-002-02, R-002-03: build-plan on the command line, from the refusals to the merge question", async () => {
  bench = openBench();
  const { passrail, project } = bench;
  writePlan(project);
  const agents = ["--agent", `*=${bench.player(HAPPY)}`];
  const outside = await passrail(["build-plan", "../../etc/hostname", "docs/plan.md", "docs/task.md", ...agents]);
  expect(outside.code).toBe(1);
  expect(outside.err).toContain("plan.spec: ../../etc/hostname is outside the project.");
  const missing = await passrail(["build-plan", "docs/spec.md", "docs/plan.md", "docs/none.md", ...agents]);
  expect(missing.err).toContain("plan.task: docs/none.md does not exist.");
  const bare = await passrail(["run", "build-plan-simple", "Names", ...agents]);
  expect(bare.err).toContain("--input plan.spec=FILE --input plan.plan=FILE --input plan.task=FILE");
  expect((await passrail(["build-plan", "docs/spec.md"])).code).toBe(2);
  const noRepository = await passrail(["build-plan", ...FILES, "--repo", "docs", ...agents]);
  expect(noRepository.err).toContain("docs is not a git repository of its own.");
  expect(JSON.parse((await passrail(["runs", "list", "--json"])).out)).toMatchObject({ runs: [] });
  const begun = await passrail(["build-plan", ...FILES, ...agents]);
  expect([begun.code, begun.err]).toEqual([3, expect.stringContaining("#1 build-plan-simple: Show names")]);
  expect(begun.err).not.toContain("does not read");
  expect(begun.err).toContain("dev-test: developer-tester (command)");
  expect(begun.err).toMatch(/plan\.task: docs\/task\.md, \d+ bytes, sha256 [0-9a-f]{12}/u);
  const inbox = JSON.parse((await passrail(["inbox", "--json"])).out) as { items: { briefing: unknown }[] };
  expect(inbox.items[0]?.briefing).toMatchObject({ feature: "Show names", files: [{ path: "docs/spec.md" }, {}, {}] });
  const approved = await passrail(["gate", "approve", "1.1"]);
  expect([approved.code, approved.err]).toEqual([3, expect.stringContaining("gate merge waits for human")]);
  // What the answer does to the work, before it is given.
  expect(approved.err).toMatch(
    /approve: Lands passrail\/\w+ on main of the project's repository, through the merge queue\./u,
  );
  expect(approved.err).toMatch(
    /reject: Does not merge: the work stays on passrail\/\w+\. To land it later: passrail merge 1/u,
  );
});

test.runIf(hasTerminal)(
  "R-002-07: on a terminal a person is asked about a dirty project, and a no starts nothing",
  async () => {
    bench = openBench();
    const { home, project, dir } = bench;
    writePlan(project);
    writeFileSync(join(project, "notes.txt"), "x\n");
    approveFiles(home, project);
    const argv = [process.execPath, CLI, "build-plan", ...FILES, "--agent", `*=${bench.player(HAPPY)}`];
    const env = { ...process.env, PASSRAIL_HOME: home, XDG_CONFIG_HOME: join(dir, "config") };
    for (const [key, shown, code] of [
      ["n\r", "--allow-dirty", 1],
      ["y\r", "gate signoff waits for human", 3],
    ] as const) {
      const terminal = openTerminal(argv, { cwd: project, env });
      await terminal.sees("Start from what is committed there now? [y/N]");
      terminal.types(key);
      if (code === 3) {
        await terminal.sees("signoff? y approve");
        terminal.types("l\r");
      }
      const ended = await terminal.ended;
      expect(ended.text).toContain("The project has uncommitted files: notes.txt");
      expect([ended.code, ended.text]).toEqual([code, expect.stringContaining(shown)]);
    }
  },
);

test("R-002-01, R-002-03, R-002-07: over the API a bad path and a dirty project are refused, and the item has its briefing", async () => {
  served = await serve();
  const server = served;
  const { bench: place } = server;
  writePlan(place.project, "standard");
  approveFiles(place.home, place.project);
  const start = (input: object, more: object = {}) =>
    server.call("POST", "/api/runs", { body: { flow: "build-plan", title: "Names", input, ...more } });
  const escaped = await start({ ...INPUT, "plan.spec": "../../../etc/hostname" });
  expect(escaped.status).toBe(422);
  expect(escaped.body).toMatchObject({
    code: "run_refused",
    detail: "plan.spec: ../../../etc/hostname is outside the project.",
  });
  expect((await start({ ...INPUT, "plan.task": { a: 1 } })).body["detail"]).toContain("must be the path of a file");
  expect((await start({ ...INPUT, "pinned.inputs": {} })).body["detail"]).toContain("is set by Passrail itself");
  const preview = (input: object) => server.call("POST", "/api/runs/preview", { body: { flow: "build-plan", input } });
  const read = {
    flow: "build-plan-standard",
    stated: [
      { fact: "plan.complexity", label: "Complexity", value: "standard" },
      { fact: "plan.new_infra", label: "New infrastructure", value: null },
    ],
    files: [{ path: "docs/spec.md" }, { path: "docs/plan.md" }, { path: "docs/task.md" }],
  };
  expect((await preview(INPUT)).body).toMatchObject({ ...read, refused: null });
  expect((await preview({ ...INPUT, "plan.task": "docs/none.md" })).body["detail"]).toContain("does not exist");
  expect((await start(INPUT, { repositories: ["docs"] })).body["detail"]).toContain("not a git repository of its own");
  writeFileSync(join(place.project, "notes.txt"), "x\n");
  // What was read is told although the start is refused, with the exception that a person would allow.
  expect((await preview(INPUT)).body).toMatchObject({
    ...read,
    repositories: [{ branch: "main", base: "main", dirty: 1 }],
    refused: { message: expect.stringContaining("uncommitted files: notes.txt"), needs: ["dirty"] },
  });
  expect((await start(INPUT)).body["detail"]).toContain("uncommitted files: notes.txt");
  expect((await server.call("GET", "/api/runs")).body).toMatchObject({ runs: [] });
  const begun = await start(INPUT, { allow: ["dirty"] });
  expect(begun.body).toMatchObject({ run: { flow: "build-plan-standard", status: "waiting" } });
  const { id } = begun.body["run"] as { id: string };
  const item = ROUTES.showItem.answer.schema.parse((await server.call("GET", `/api/inbox/${id}.1`)).body);
  expect(item.briefing).toMatchObject({
    files: [{ name: "plan.spec" }, { name: "plan.plan" }, { name: "plan.task" }],
    repositories: [{ branch: "main", dirty: 1 }],
    contracts: "## Contracts\n\nGET /names gives a list.",
  });
});
