// A project with a committed spec, plan and task, and starts of the family build-plan through the same use case that every door calls.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlanRequest } from "../../../src/app/start-run/start-run.ts";
import type { Result } from "../../../src/core/result.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { APPROVED, hands } from "../../harness/handoff-text.ts";
import { playerOf } from "../../harness/player.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

export const SPEC =
  "# Users\n\nEvery user has a name.\n\n## Acceptance criteria\n\n- names are shown\n\n## Data model of users\n\nA table.\n";
export const TASK =
  "# Show names\n\nFollow the data model of users, and plan.md#routing-of-names.\n\n## Definition of Done\n\n- [ ] the route exists\n- [ ] a test proves it (tester)\n";
export const planSaying = (...lines: readonly string[]): string =>
  `# Plan\n\n${lines.join("\n")}\n\n## Routing of names\n\nOne route.\n\n## Contracts\n\nGET /names gives a list.\n\n## Test plan\n\nOne test.\n`;

export const INPUT = { "plan.spec": "docs/spec.md", "plan.plan": "docs/plan.md", "plan.task": "docs/task.md" };

const done = hands({ gates: ["Tests: OK (1 test)"] });
export const HAPPY: Script = {
  devops: [done],
  dev: [done],
  "dev-test": [done],
  "be-dev": [done],
  "fe-dev": [done],
  dod: [APPROVED],
  "be-dod": [APPROVED],
  "fe-dod": [APPROVED],
  review: [APPROVED],
  "be-review": [APPROVED],
  "fe-review": [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};

export type PlanBench = Workbench & {
  write(path: string, text: string | Buffer): void;
  commit(): void;
  git(...args: readonly string[]): string;
  /** Plans and starts; the run is at its sign-off then. */
  begin(script?: Script, more?: Partial<PlanRequest>): Promise<Result<Run>>;
  signedOff(script?: Script, more?: Partial<PlanRequest>): Promise<Run>;
  prompt(run: Run, attempt: string): string;
};

export async function openPlanBench(
  complexity = "standard",
  options: Parameters<typeof openWorkbench>[0] = {},
): Promise<PlanBench> {
  const bench = await openWorkbench(options);
  const { project, dir, home } = bench;
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", project, "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
      encoding: "utf8",
    });
  const write = (path: string, text: string | Buffer): void => writeFileSync(join(project, path), text);
  const commit = (): void => {
    git("add", "-A");
    git("commit", "-q", "-m", "files");
  };
  mkdirSync(join(project, "docs"));
  write("docs/spec.md", SPEC);
  write("docs/plan.md", planSaying(`Complexity: ${complexity}`));
  write("docs/task.md", TASK);
  write("CLAUDE.md", "Use tabs.\n");
  commit();
  let starts = 0;
  const begin: PlanBench["begin"] = async (script = HAPPY, more = {}) => {
    const file = join(dir, `script-${++starts}.json`);
    writeFileSync(file, JSON.stringify(script));
    const plan = await bench.passrail.app.planRun({
      flow: "build-plan",
      subject: { id: `P-${starts}`, title: "Show names", body: "" },
      input: Object.entries(INPUT),
      runners: [`*=${playerOf(file).join(" ")}`],
      ...more,
    });
    if (!plan.ok) return plan;
    const started = await bench.passrail.app.startRun(plan.value, "human:tester");
    if (!started.ok) throw new Error(started.error.message);
    await bench.passrail.engine.idle();
    return { ok: true, value: await bench.load(started.value.run.id) };
  };
  // One object: `restart` of the workbench sets its own `passrail`.
  return Object.assign(bench, {
    write,
    commit,
    git,
    begin,
    async signedOff(script?: Script, more?: Partial<PlanRequest>) {
      const begun = await begin(script, more);
      if (!begun.ok) throw new Error(begun.error.message);
      await bench.answer(begun.value, "gate", "approve");
      return bench.load(begun.value.id);
    },
    prompt: (run: Run, attempt: string) => readFileSync(join(home, "runs", run.id, attempt, "prompt.md"), "utf8"),
  });
}
