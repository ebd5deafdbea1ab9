// Work is where the product says it is: the engine commits what a stage left on the run's branch, a gate is bound to that commit, and every
// door says at the end where the work is.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openWorkbench, resolveShipped, type Script, type Workbench } from "../../harness/workbench.ts";
import { type Bench, openBench } from "../cli/bench.ts";

let bench: Bench;

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();

/** Agents that never call git. */
const quiet = {
  spec: [{ via: "json-tail", verdict: "APPROVED", write: { "specs/one.md": "spec" } }],
  design: [{ via: "json-tail", verdict: "APPROVED" }],
  build: [{ via: "json-tail", verdict: "COMPLETE", write: { "src/a.txt": "built" } }],
  qa: [{ via: "json-tail", verdict: "SHIP" }],
};

async function toShipGate(script: Readonly<Record<string, unknown>> = quiet): Promise<string> {
  const player = bench.player(script);
  await bench.passrail(["run", "feature", "Add a thing", "--id", "F-1", "--agent", `*=${player}`]);
  const { out, err } = await bench.passrail(["gate", "approve", "1.1", "--json"]);
  if (out === "") throw new Error(err);
  return branch();
}

const branch = (): string => git("for-each-ref", "--format=%(refname:short)", "refs/heads/passrail");
const subjects = (name: string): readonly string[] => git("log", "--format=%s", `main..${name}`).split("\n");

describe("the work of a passed stage is on the run's branch", () => {
  beforeEach(() => {
    bench = openBench();
  });
  afterEach(() => bench.remove());

  test("S07: a feature whose agents never call git has its work in the commit that the ship gate is bound to", async () => {
    const name = await toShipGate();
    expect(subjects(name)).toEqual(["F-1: build", "F-1: spec"]);
    expect(git("show", `${name}:src/a.txt`)).toBe("built");
    const tip = git("rev-parse", name);
    const wrong = await bench.passrail(["gate", "approve", "1.2", "--commit", git("rev-parse", "main")]);
    expect(wrong.code).not.toBe(0);
    const shipped = await bench.passrail(["gate", "approve", "1.2", "--commit", tip]);
    expect(shipped.code).toBe(0);
    expect(git("rev-parse", name)).toBe(tip);
    expect(git("rev-parse", "main")).not.toBe(tip);
    expect(shipped.err).toContain(`2 commits on ${name}, at ${tip.slice(0, 12)}. Not landed: no merge.mode is set`);
    for (const command of ["passrail merge 1", "passrail merge 1 --pr", "passrail discard 1"])
      expect(shipped.err).toContain(command);
    const { end } = JSON.parse((await bench.passrail(["runs", "show", "1", "--json"])).out);
    expect(end).toMatchObject({ state: "kept", branch: name, commits: 2, tip, landedAs: null });
  });

  test("S07: a finished run of any flow is merged or discarded by one command, and the run says so afterwards", async () => {
    const name = await toShipGate();
    const tip = git("rev-parse", name);
    expect((await bench.passrail(["merge", "1"])).err).toContain("not_completed");
    await bench.passrail(["gate", "approve", "1.2", "--commit", tip]);
    git("worktree", "add", "-q", join(bench.dir, "looked-at"), name);
    expect((await bench.passrail(["discard", "1"])).err).toContain("branch_in_use");
    git("worktree", "remove", join(bench.dir, "looked-at"));
    const discarded = await bench.passrail(["discard", "1", "--json"]);
    expect(discarded.code).toBe(0);
    const { keptAs } = JSON.parse(discarded.out);
    expect(git("for-each-ref", `refs/heads/${name}`)).toBe("");
    expect(git("rev-parse", keptAs)).toBe(tip);
    const shown = JSON.parse((await bench.passrail(["runs", "show", "1", "--json"])).out).end;
    expect(shown).toMatchObject({ state: "gone", text: expect.stringContaining(`${keptAs} keeps its commits`) });
    const history = (await bench.passrail(["runs", "events", "1"])).out;
    expect(history).toMatch(/outward\.intended\thuman:.*"verb":"discard"/u);
    expect(history).toMatch(new RegExp(`outward\\.seen.*"commit":"${tip}".*"keptAs":"${keptAs}"`, "u"));
    expect((await bench.passrail(["discard", "1"])).err).toContain("nothing_to_merge");
    expect((await bench.passrail(["undo", "F-1"])).code).toBe(0);
    expect(git("rev-parse", name)).toBe(tip);
    const merged = await bench.passrail(["merge", "1"]);
    expect(merged.err).toMatch(new RegExp(`The commits of \\S+ landed in main as ${tip.slice(0, 12)}`, "u"));
    expect(git("rev-parse", "main")).toBe(tip);
    const { end } = JSON.parse((await bench.passrail(["runs", "show", "1", "--json"])).out);
    expect(end).toMatchObject({ state: "landed", target: "main", landedAs: tip });
  });
});

describe("in every flow and workspace", () => {
  let inside: Workbench;
  afterEach(() => inside.close());

  async function shipGate(script: Script, options: Parameters<typeof openWorkbench>[0] = {}, facts: JsonObject = {}) {
    inside = await openWorkbench(options);
    const run = await inside.run("feature", script, { facts });
    await inside.answer(run, "gate", "approve");
    return inside.load(run.id);
  }
  const at = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", inside.project, ...args], { encoding: "utf8" }).trim();

  test("S07: where the project sets merge.mode, the ship gate lands the work that it was bound to", async () => {
    const run = await shipGate(quiet, {}, { config: { merge_mode: "merge" } });
    const tip = at("rev-parse", `passrail/${run.id}`);
    await inside.answer(run, "gate", "approve");
    expect(await inside.load(run.id)).toMatchObject({ status: "completed", word: "shipped" });
    expect(at("rev-parse", "main")).toBe(tip);
    expect(inside.notices.at(-1)?.text).toContain(`landed in main as ${tip.slice(0, 12)}`);
  });

  test("S07: a loop keeps a readable history, and work of a stage that sent it back is on the branch too", async () => {
    const run = await shipGate({
      ...quiet,
      build: [
        { via: "json-tail", verdict: "COMPLETE", write: { "src/a.txt": "one" } },
        { via: "json-tail", verdict: "COMPLETE", write: { "src/b.txt": "two" } },
      ],
      qa: [
        { via: "json-tail", verdict: "REVISE", issues: ["not yet"], write: { "test/a.txt": "qa" } },
        { via: "json-tail", verdict: "SHIP" },
      ],
    });
    expect(at("log", "--format=%s", `main..passrail/${run.id}`).split("\n")).toEqual([
      "F-1: build (attempt 2)",
      "F-1: qa (revise)",
      "F-1: build",
      "F-1: spec",
    ]);
    expect(at("show", `passrail/${run.id}:test/a.txt`)).toBe("qa");
  });

  test("S07: in place, nothing is committed to the checked-out branch", async () => {
    const run = await shipGate(quiet, { workspace: "in-place" });
    expect(run.status).toBe("waiting");
    expect(at("rev-list", "--count", "HEAD")).toBe("1");
    expect(readFileSync(join(inside.project, "src/a.txt"), "utf8")).toBe("built\n");
    await inside.answer(run, "gate", "approve");
    expect(inside.notices.at(-1)?.text).toContain("Passrail committed nothing there");
  });

  test("S07: work that an agent left on a branch of its own joins the run's branch", async () => {
    const program = `git switch -q -c elsewhere && echo x > b.txt && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm own`;
    const flow = {
      flow: "strays",
      version: 1,
      subject: "ticket",
      stages: [
        { id: "stray", agent: "builder", command: ["sh", "-c", program], result: { from: "exit-code" } },
        { id: "ok", kind: "gate" },
      ],
    };
    inside = await openWorkbench();
    const folder = join(inside.project, ".passrail/flows");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "strays.yaml"), JSON.stringify(flow));
    const run = await inside.run(resolveShipped("strays", inside.project), {});
    expect(run.status).toBe("waiting");
    expect(at("show", `passrail/${run.id}:b.txt`)).toBe("x");
  });
});
