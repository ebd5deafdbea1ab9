// A check runs the work, so it is contained like the agent that made it: in the sandbox, ended with everything it started, and worth nothing
// when it was cut off.

import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { until } from "../../harness/until.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { bubblewrapTests, whyLeftOut } from "../sandbox/can-confine.ts";
import { check, checksOf, finishedChecks } from "./checks.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const DONE = {
  spec: [{ verdict: "APPROVED" }],
  design: [{ verdict: "APPROVED" }],
  qa: [{ verdict: "SHIP" }],
  build: [{ verdict: "COMPLETE" }],
};

async function feature(config: JsonObject, wait = true): Promise<string> {
  const run = await bench.run("feature", DONE, { facts: { config } });
  const answered = bench.answer(run, "gate", "approve");
  if (wait) await answered;
  else answered.catch(() => undefined);
  return run.id;
}

describe.skipIf(bubblewrapTests === "left out")(`with bubblewrap${whyLeftOut}`, () => {
  test("a check runs inside the sandbox of its attempt: it does not see the state folder, and its result counts there only", async () => {
    const code = `const isOutside = require("fs").existsSync(${JSON.stringify(join(bench.home, "passrail.db"))}); console.log(isOutside ? "outside" : "inside"); process.exit(isOutside ? 1 : 0)`;
    const checks = { where: { run: [process.execPath, "-e", code], timeoutMs: 60_000, env: [] } };
    const inside = await feature({ checks, workspace: "bubblewrap" });
    expect(checksOf(await bench.events(inside))).toEqual(["build#1 where:passed"]);
    expect(readFileSync(join(bench.home, "runs", inside, "build-1", "check-where.log"), "utf8")).toContain("inside");
    const outside = await feature({ checks, workspace: "worktree" });
    expect(checksOf(await bench.events(outside))[0]).toBe("build#1 where:failed");
  });
});

test("a cancel while a check runs ends it with its children; nothing counts as passed, and nothing is kept", async () => {
  const pid = join(bench.dir, "pid");
  const child = `(() => { const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { detached: true, stdio: "ignore" }); fs.writeFileSync(${JSON.stringify(pid)}, String(child.pid)); setInterval(() => {}, 1e6); return true; })()`;
  const runId = await feature({ checks: { slow: check(bench.dir, child) } }, false);
  const number = await until("the check", () =>
    existsSync(pid) ? Number(readFileSync(pid, "utf8")) || undefined : undefined,
  );
  await bench.passrail.engine.deliver(runId, { type: "cancel.requested", reason: "enough" }, "human:tester");
  await bench.passrail.engine.idle();
  expect((await bench.load(runId)).status).toBe("canceled");
  expect(finishedChecks(await bench.events(runId))).toEqual([]);
  await until("its end", () => (isGone(number) ? true : undefined));
});

test("a check gets the variables that it names and no other secret, and its log shows none", async () => {
  await bench.close();
  const environment = { ...process.env, MY_DB_PASSWORD: "hunter2-hunter2", OTHER_TOKEN: "xyzzy-secret-value" };
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-test-")));
  bench = await openWorkbench({ place: { dir, project: newRepository(dir), environment } });
  const code = `console.log("it is", process.env.MY_DB_PASSWORD); process.exit(process.env.MY_DB_PASSWORD && !process.env.OTHER_TOKEN && !process.env.PASSRAIL_TOKEN ? 0 : 1)`;
  const checks = { env: { run: [process.execPath, "-e", code], timeoutMs: 60_000, env: ["MY_DB_PASSWORD"] } };
  const runId = await feature({ checks });
  expect(checksOf(await bench.events(runId))).toEqual(["build#1 env:passed"]);
  const log = readFileSync(join(bench.home, "runs", runId, "build-1", "check-env.log"), "utf8");
  expect(log).toContain("it is");
  expect(log).not.toContain("hunter2");
});

function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
