// The work of a build plan is delivered: the merge gate is bound to a commit that contains it, an approval lands it in the target, a refusal
// loses nothing, and the command that ends the run says all of that.

import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { APPROVED, hands } from "../../harness/handoff-text.ts";
import { newRemote, newRepository } from "../../harness/new-repository.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { type Bench, openBench } from "../cli/bench.ts";

const standard: Script = {
  dev: [hands({ gates: ["Tests: OK (3 tests)"] }, { write: { "src/b.ts": "built" } })],
  dod: [APPROVED],
  review: [APPROVED],
  test: [hands({ verdict: "APPROVED" }, { write: { "src/b.test.ts": "tested" } })],
  "update-specs": [hands({}, { write: { "docs/spec.md": "## As built" } })],
};
const complex: Script = {
  "be-dev": [hands({}, { write: { "api.txt": "be" } })],
  "be-dod": [APPROVED],
  "be-review": [APPROVED],
  "fe-dev": [hands({}, { write: { "page.txt": "fe" } })],
  "fe-dod": [APPROVED],
  "fe-review": [APPROVED],
  test: [APPROVED],
  "update-specs": [hands({}, { write: { "docs/spec.md": "## As built" } })],
};

describe("with a remote", () => {
  let bench: Workbench;
  let remote: string;
  beforeEach(async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-test-")));
    const project = newRepository(dir);
    remote = join(dir, "remote.git");
    newRemote(project, remote);
    bench = await openWorkbench({ place: { dir, project } });
  });
  afterEach(async () => {
    await bench.close();
    rmSync(bench.dir, { recursive: true, force: true });
  });
  const atRemote = (...args: string[]) => execFileSync("git", ["-C", remote, ...args], { encoding: "utf8" }).trim();

  async function toMergeGate(flow: string, script: Script): Promise<Run> {
    const started = await bench.run(flow, script);
    await bench.answer(started, "gate", "approve");
    const run = await bench.load(started.id);
    expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
    expect(atRemote("log", "--format=%s", "main")).toBe("first");
    return run;
  }

  test.each<[string, Script, readonly string[]]>([
    ["build-plan-standard", standard, ["README.md", "docs/spec.md", "src/b.test.ts", "src/b.ts"]],
    ["build-plan-complex", complex, ["README.md", "api.txt", "docs/spec.md", "page.txt"]],
  ])(
    "R-002-22, R-002-23: the work of %s is in the remote's target after the approval, as-built notes included",
    async (flow, script, files) => {
      const gated = await toMergeGate(flow, script);
      const commit = execFileSync("git", ["rev-parse", `passrail/${gated.id}`], {
        cwd: bench.project,
        encoding: "utf8",
      });
      await bench.answer(gated, "gate", "approve");
      const run = await bench.load(gated.id);
      expect(run).toMatchObject({ status: "completed", word: "done", stages: { land: { attempts: 1 } } });
      expect(atRemote("rev-parse", "main")).toBe(commit.trim());
      expect(atRemote("ls-tree", "-r", "--name-only", "main").split("\n")).toEqual(files);
      expect(atRemote("log", "--format=%s", "main")).toContain("update-specs");
    },
  );

  test("R-002-23: declined, nothing is merged and nothing is lost", async () => {
    const gated = await toMergeGate("build-plan-standard", standard);
    await bench.answer(gated, "gate", "decline");
    expect(await bench.load(gated.id)).toMatchObject({ status: "completed", word: "not-merged" });
    expect(atRemote("log", "--format=%s", "main")).toBe("first");
    const shown = execFileSync("git", ["show", `passrail/${gated.id}:src/b.ts`], {
      cwd: bench.project,
      encoding: "utf8",
    });
    expect(shown).toBe("built\n");
  });

  test("R-002-23: a conflict with the target asks a person and names the files; nothing is half-landed", async () => {
    const gated = await toMergeGate("build-plan-standard", standard);
    const other = join(bench.dir, "other");
    execFileSync("git", ["clone", "-q", remote, other]);
    execFileSync(
      "sh",
      [
        "-c",
        "mkdir src && echo other > src/b.ts && git add -A && git -c user.name=o -c user.email=o@localhost commit -q -m other && git push -q origin main",
      ],
      { cwd: other },
    );
    await bench.answer(gated, "gate", "approve");
    const run = await bench.load(gated.id);
    expect(run.status).toBe("waiting");
    expect(openItems(run)).toMatchObject([{ kind: "choice", stage: "land" }]);
    expect(JSON.stringify(openItems(run))).toContain("src/b.ts");
    expect(atRemote("log", "--format=%s", "main")).toBe("other\nfirst");
  });
});

describe("on the command line, without a remote", () => {
  let bench: Bench;
  /** By the command that brought the run to its next decision. */
  let said = "";
  beforeEach(() => {
    bench = openBench();
  });
  afterEach(() => bench.remove());
  const git = (...args: string[]) => execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();

  async function toMergeGate(flow: string, script: Script): Promise<string> {
    const player = bench.player(script);
    writeFileSync(join(bench.project, "README.md"), "# Project\n");
    for (const name of ["spec", "plan", "task"]) writeFileSync(join(bench.project, `${name}.md`), `# ${name}\n`);
    git("add", "-A");
    git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "plan");
    const inputs = ["spec", "plan", "task"].flatMap((name) => ["--input", `plan.${name}=${name}.md`]);
    await bench.passrail(["run", flow, "Add a thing", ...inputs, "--agent", `*=${player}`]);
    const { code, err } = await bench.passrail(["gate", "approve", "1.1"]);
    expect({ code, err }).toMatchObject({ code: 3 });
    said = err;
    return git("for-each-ref", "--format=%(refname:short)", "refs/heads/passrail/*").split("\n")[0] ?? "";
  }

  test("R-002-23, R-002-59: the gate names branch, commit and reported checks; the approval's last lines have table, branch and commit", async () => {
    const name = await toMergeGate("build-plan-standard", standard);
    const tip = git("rev-parse", name);
    const { err } = await bench.passrail(["gate", "approve", "1.2"]);
    expect(err).toContain(`${name} at ${tip.slice(0, 12)}, 3 commits`);
    expect(err).toContain("dev reports, and Passrail did not see: Tests: OK (3 tests)");
    expect(err).toMatch(/\| developer iter 1 \|[^]*\| Total \|/u);
    expect(err).toContain(`3 commits of ${name} landed in main as ${tip.slice(0, 12)}.`);
    expect(git("rev-parse", "main")).toBe(tip);
    expect(git("show", "main:src/b.ts")).toBe("built");
  });

  test("R-002-19: an escalation names the worktree in which a person can fix it by hand", async () => {
    const never = [hands({ verdict: "REQUEST_CHANGES", findings: ["never good"] })];
    await toMergeGate("build-plan-standard", { ...standard, review: never });
    const name = git("for-each-ref", "--format=%(refname:short)", "refs/heads/passrail");
    const [, dir = ""] = new RegExp(`${name} at [0-9a-f]{12}, .* in (\\S+)`, "u").exec(said) ?? [];
    expect(git("-C", dir, "branch", "--show-current")).toBe(name);
    expect(said).toContain("fixed-by-hand-review-again");
  });

  test("R-002-23: declined, the last lines list every branch and say how it can still be merged", async () => {
    await toMergeGate("build-plan-complex", complex);
    const { err } = await bench.passrail(["gate", "reject", "1.2"]);
    const branches = git("for-each-ref", "--format=%(refname:short)", "refs/heads/passrail").split("\n");
    expect(branches).toHaveLength(3);
    for (const branch of branches) expect(err).toContain(branch);
    expect(err).toContain("Not landed: a person decided so");
    expect(err).toContain("passrail merge 1");
    expect(git("log", "--format=%s", "main")).not.toContain("be-dev");
  });
});
