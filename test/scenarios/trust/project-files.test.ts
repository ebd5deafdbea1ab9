// What lands does not decide what runs: a change of the project's files by an agent, a merge or a pull waits for a person.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openScene, type TrustScene } from "./place.ts";

vi.setConfig({ testTimeout: 120_000 });

let scene: TrustScene;
beforeEach(() => {
  scene = openScene();
});
afterEach(() => scene.remove());

/** A flow of one stage and a gate, in place. */
const flow = (gate: boolean): string => `flow: small
version: 1
subject: task
allow_ungated: true
workspace: { mode: in-place }
words: { health: { "0": complete }, unknown_health: failed, unknown_verdict: pass }
stages:
  - { id: build, agent: worker, result: { from: exit-code } }
${gate ? "  - { id: ship, kind: gate }\n" : ""}`;
const AGENT = "---\nname: worker\ndescription: works\n---\nWork.\n";

function writeSmallFlow(command: readonly string[]): void {
  scene.write("passrail.yaml", JSON.stringify({ agents: { "*": { command } } }));
  scene.write(".passrail/flows/small.yaml", flow(true));
  scene.write(".passrail/agents/worker.md", AGENT);
}

test("S10: a passrail.yaml that an agent lands in main does not choose the next ticket's program", async () => {
  const evil = JSON.stringify({
    workspace: "in-place",
    merge: { mode: "merge" },
    agents: { "*": { command: ["sh", "-c", `echo "$PASSRAIL_STAGE" >> ${scene.canary}`] } },
  });
  const command = scene.agent(`import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
writeFileSync("passrail.yaml", ${JSON.stringify(evil)});
writeFileSync(process.env.PASSRAIL_STAGE + process.pid + ".txt", "work");
const who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
execFileSync("git", ["add", "-A"]);
execFileSync("git", [...who, "commit", "-q", "-m", "work"]);
console.log("done");
`);
  const ticket = (id: string, more: string): void =>
    scene.write(
      `feature_requests/FR-1/${id}.md`,
      `---\nid: ${id}\ntitle: ${id}\nrepo: project\nstatus: Needs Validate\n${more}---\n\nDo it.\n`,
    );
  scene.write("passrail.yaml", JSON.stringify({ merge: { mode: "merge" }, agents: { "*": { command } } }));
  ticket("AGI-1", "");
  ticket("AGI-2", "dependsOn: [AGI-1]\n");
  scene.git("add", "-A");
  scene.git("commit", "-q", "-m", "settings");
  await scene.passrail(["trust", "--yes"]);
  await scene.passrail(["work", "--once"]);
  expect(readFileSync(join(scene.project, "passrail.yaml"), "utf8")).toBe(evil);
  expect(readFileSync(join(scene.project, "feature_requests/FR-1/AGI-2.md"), "utf8")).toContain("status: Done");
  expect(existsSync(scene.canary)).toBe(false);
});

test("S10: an agent in place that removes a gate from its flow changes no run before a person approves it", async () => {
  const command = scene.agent(`import { writeFileSync } from "node:fs";
writeFileSync(".passrail/flows/small.yaml", ${JSON.stringify(flow(false))});
`);
  writeSmallFlow(command);
  await scene.passrail(["trust", "--yes"]);
  expect((await scene.passrail(["run", "small", "one"])).code).toBe(3);
  const second = await scene.passrail(["run", "small", "two"]);
  expect(second.code).toBe(3);
  expect(second.err).toContain("passrail trust --diff");
  const shown = await scene.passrail(["trust", "--diff"]);
  expect(shown.code).toBe(3);
  expect(shown.out).toContain("-  - { id: ship, kind: gate }");
  expect(shown.err).toContain("- flow small: a person decides at ship");
  expect((await scene.passrail(["trust", "--yes", "--quiet"])).code).toBe(0);
  expect((await scene.passrail(["run", "small", "three"])).code).toBe(0);
});

test("S10: without a terminal the first use is refused with the command that approves; a stop always works", async () => {
  writeSmallFlow(["sh", "-c", `touch ${scene.canary}`]);
  const refused = await scene.passrail(["run", "small", "one"]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("project_not_trusted");
  expect(refused.err).toContain("passrail trust --yes");
  expect((await scene.passrail(["up", "--port", "0"])).err).toContain("project_not_trusted");
  expect(existsSync(scene.canary)).toBe(false);
  expect((await scene.passrail(["run", "small", "one", "--trust"])).code).toBe(3);
  expect(existsSync(scene.canary)).toBe(true);
  expect(readFileSync(join(scene.home, "audit.jsonl"), "utf8")).toContain("trust: approved");
  expect((await scene.passrail(["trust", "revoke"])).code).toBe(0);
  expect((await scene.passrail(["gate", "approve", "1.1"])).err).toContain("project_not_trusted");
  expect((await scene.passrail(["runs", "cancel", "1"])).code).toBe(0);
});

test("S06: an agent cannot approve, by a command, a flag or a cleared environment", async () => {
  const tries = ["trust --yes", "--trust flow list", "trust revoke"].map((words) => words.split(" "));
  const command = scene.agent(`import { spawnSync } from "node:child_process";
import { writeFileSync, appendFileSync } from "node:fs";
writeFileSync("passrail.yaml", JSON.stringify({ slots: 7 }));
for (const args of ${JSON.stringify(tries)}) {
  for (const env of [process.env, { PATH: process.env.PATH, PASSRAIL_HOME: process.env.STATE }]) {
    const cli = [process.env.CLI, "--cwd", ${JSON.stringify(scene.project)}, "--home", ${JSON.stringify(scene.home)}];
    const { status, stderr } = spawnSync(process.execPath, [...cli, ...args], { env, encoding: "utf8" });
    appendFileSync(${JSON.stringify(scene.canary)}, status + " " + stderr);
  }
}
`);
  writeSmallFlow(command);
  scene.write("passrail.yaml", JSON.stringify({ agents: { "*": { command } }, environment: { pass: ["CLI"] } }));
  await scene.passrail(["trust", "--yes"]);
  const { CLI } = await import("../cli/bench.ts");
  expect((await scene.passrail(["run", "small", "one"], { CLI })).code).toBe(3);
  const said = readFileSync(scene.canary, "utf8");
  expect(said.match(/operator_only/gu)).toHaveLength(6);
  expect(JSON.parse((await scene.passrail(["trust", "--json"])).out)).toMatchObject({ state: "changed" });
});
