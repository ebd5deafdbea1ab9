// The next workspace is got ready while an agent works. The agents here wait until that has happened, and say which file they find.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const benches: Workbench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close();
});

async function openBench(slots: number): Promise<Workbench> {
  const bench = await openWorkbench({ slots });
  benches.push(bench);
  return bench;
}

const flowOf = (per: "run" | "stage", stages: readonly string[]) =>
  customFlow("ticket", (file) => ({
    ...file,
    workspace: { ...file.workspace, per },
    stages: file.stages.filter(({ id }) => stages.includes(id)),
    enter: { "Needs Research": "research" },
  }));

/** Notes the inode of the file that it finds; a waiting agent then notes the one that lies ready for the next. */
function agent({ home, dir }: Workbench, word: string, waits: boolean, exitCode = 0): readonly string[] {
  const ready = `'${home}'/worktrees/.spare.*/work/README.md`;
  const wait = `until [ -e ${ready} ]; do sleep 0.05; done; echo "ready $(stat -c %i ${ready})" >> '${dir}/seen'`;
  const line = `echo "${word} $(stat -c %i README.md)" >> '${dir}/seen'; echo "${word}" > "${word}.txt"; ${waits ? wait : "true"}; exit ${exitCode}`;
  return ["/bin/sh", "-c", line];
}

const seenIn = ({ dir }: Workbench): readonly (readonly string[])[] =>
  readFileSync(join(dir, "seen"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));

const start = (
  bench: Workbench,
  runners: JsonObject,
  flow: ReturnType<typeof flowOf>,
  subject: string,
  wait: boolean,
) => bench.run(flow, {}, { subject, wait, facts: { ticket: { repo: "org/app", status: "Needs Research" }, runners } });

test("with a workspace per stage, the next stage works on files that were written while the one before worked", async () => {
  const bench = await openBench(1);
  const runners = { research: agent(bench, "first", true), plan: agent(bench, "second", false) };
  const run = await start(bench, runners, flowOf("stage", ["research", "plan"]), "AGI-1", true);
  expect(bench.errors).toEqual([]);
  expect(run.status).toBe("completed");
  const [first, ready, second] = seenIn(bench);
  expect([first?.[0], ready?.[0], second?.[0]]).toEqual(["first", "ready", "second"]);
  expect(second?.[1]).toBe(ready?.[1]);
  expect(existsSync(join(bench.home, "worktrees")) ? readdirSync(join(bench.home, "worktrees")) : []).toEqual([]);
});

test("nothing is left of it where no stage follows and no attempt waits", async () => {
  const bench = await openBench(1);
  const runners = { research: agent(bench, "first", true, 3), plan: agent(bench, "second", false) };
  const run = await start(bench, runners, flowOf("stage", ["research", "plan"]), "AGI-1", true);
  expect(bench.errors).toEqual([]);
  expect(run.status).toBe("stopped");
  expect(seenIn(bench).map(([word]) => word)).toEqual(["first", "ready"]);
  expect(readdirSync(join(bench.home, "worktrees"))).toEqual([]);
});

test("a ticket that waits for a slot finds its worktree's files ready, and an engine that closes leaves none behind", async () => {
  const bench = await openBench(1);
  const flow = flowOf("run", ["research"]);
  const first = await start(bench, { research: agent(bench, "first", true) }, flow, "AGI-1", false);
  const second = await start(bench, { research: agent(bench, "second", false) }, flow, "AGI-2", false);
  await bench.passrail.engine.idle();
  expect(bench.errors).toEqual([]);
  for (const { id } of [first, second]) expect((await bench.load(id)).status).toBe("completed");
  const [, ready, taken] = seenIn(bench);
  expect([ready?.[0], taken?.[0]]).toEqual(["ready", "second"]);
  expect(taken?.[1]).toBe(ready?.[1]);
  await bench.restart();
  expect(
    readdirSync(join(bench.home, "worktrees")).filter((name) => /^\.(?:spare|making|taken)\./u.test(name)),
  ).toEqual([]);
});
