// A process that tries to outlive its attempt: a new session, an empty environment, no parent. At each rung of the ladder it ends with the
// attempt, or the attempt has failed, the run says so, and nothing else works in the workspace while it lives.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { Enclosure } from "../../../src/core/flow/enclosure.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { enclosureHere } from "../../../src/runner/process/enclose.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
/** Names the hidden process, in whatever namespace it is. */
let seconds: string;

afterEach(async () => {
  for (const pid of hidden()) process.kill(pid, "SIGKILL");
  await bench.close();
});

/** Hides a process in its first attempt, then works as its script says. */
async function open(enclosure: Enclosure, process: "own" | "engine"): Promise<JsonObject> {
  bench = await openWorkbench({ settings: () => ({ attempts: { enclosure, process } }) });
  seconds = `3${Math.random().toString().slice(2, 10)}.5`;
  const [agent, script] = [join(bench.dir, "hides.mjs"), join(bench.dir, "hides.json")];
  const built = { via: "json-tail", verdict: "COMPLETE" };
  const turns = [
    { ...built, write: { "a.txt": "1" } },
    { ...built, write: { "b.txt": "1" } },
  ];
  writeFileSync(script, JSON.stringify({ build: turns }));
  // The shell between the two ends at once, so that nothing leads from the sleeper back to the agent.
  writeFileSync(
    agent,
    `import { execFileSync } from "node:child_process";
    import { existsSync, writeFileSync } from "node:fs";
    const done = ${JSON.stringify(join(bench.dir, "hidden"))};
    const hidden = "sleep ${seconds} >/dev/null 2>&1 </dev/null &";
    if (!existsSync(done)) execFileSync("setsid", ["env", "-i", "sh", "-c", hidden]);
    writeFileSync(done, "");
    await import(${JSON.stringify(join(import.meta.dirname, "../../fixtures/player/play.mjs"))});`,
  );
  return { runners: { "*": [globalThis.process.execPath, agent, script] } };
}

function hidden(): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8") === `sleep\0${seconds}\0` ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const attempts = async (runId: string) => bench.passrail.store.attempts(runId);

async function retry(runId: string): Promise<void> {
  await bench.passrail.engine.deliver(runId, { type: "retry.requested", note: "" }, "human:tester");
  await bench.passrail.engine.idle();
}

describe.runIf(process.platform === "linux")("a process without session, environment and parent", () => {
  test.each([
    ["cgroup", "engine"],
    ["cgroup", "own"],
    ["namespace", "engine"],
  ] as const)("P7, R-X-05: ends with its attempt (%s, carried out by %s)", async (enclosure, where) => {
    if (!enclosureHere(enclosure).ok) return;
    const facts = await open(enclosure, where);
    const run = await bench.run(onlyStages("feature", ["build"]), {}, { facts });
    expect(hidden()).toEqual([]);
    expect(run.status).toBe("completed");
    const [record] = await attempts(run.id);
    const noted = attemptFacts(record ?? { facts: {} });
    expect(noted).toMatchObject({ enclosure, strays: [] });
    expect(noted.files).toContain("a.txt");
    // Nothing of the enclosure stays, either.
    if (noted.process?.cgroup !== undefined) expect(() => readdirSync(noted.process?.cgroup ?? "")).toThrow("ENOENT");
    expect((await bench.events(run.id)).map(({ type }) => type)).not.toContain("warning.raised");
  });

  test("P7: held by markers alone it fails its attempt, keeps others out while it lives, and its commits are told", async () => {
    const facts = await open("markers", "engine");
    const run = await bench.run(onlyStages("feature", ["build"]), {}, { facts });
    const [pid = 0] = hidden();
    expect(pid).toBeGreaterThan(0);
    const warned = (await bench.events(run.id)).filter(({ type }) => type === "warning.raised");
    expect(warned).toMatchObject([{ code: "process_left", message: expect.stringContaining(`${pid} (sleep)`) }]);
    const [first] = await attempts(run.id);
    expect(first).toMatchObject({ status: "done", outcome: { health: "failed", cause: "process_escaped" } });

    await retry(run.id);
    const [, second] = await attempts(run.id);
    expect(second).toMatchObject({ outcome: { health: "failed", cause: "workspace_quarantined" } });

    // As the hidden process would: after the end of its attempt.
    const { workspace = "" } = attemptFacts(first ?? { facts: {} }) as { workspace?: string };
    const by = ["-c", "user.name=x", "-c", "user.email=x@localhost"];
    execFileSync("git", [...by, "commit", "-q", "--allow-empty", "-m", "late"], { cwd: workspace });
    process.kill(pid, "SIGKILL");
    await until("it is gone", () => (hidden().length === 0 ? true : undefined));
    await retry(run.id);
    const [, , third] = await attempts(run.id);
    expect(third).toMatchObject({ status: "done", outcome: { health: "complete" } });
    expect(JSON.stringify(await bench.events(run.id))).toContain("commits_after_the_end");
  });
});
