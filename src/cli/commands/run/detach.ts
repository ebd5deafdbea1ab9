// `run --detach` without a daemon: passes the plan to a background process and waits until the run is stored.

import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openForReading } from "../../../store/open-store.ts";
import type { Run } from "../../../core/run/run.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printRest } from "../../report.ts";
import type { CommandPlan } from "./run-plan.ts";

const PATIENCE_MS = 15_000;

export async function startDetached(io: Io, plan: CommandPlan): Promise<number> {
  const dir = join(io.home, "detached");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, `${plan.runId}.json`);
  const log = join(dir, `${plan.runId}.log`);
  writeFileSync(file, JSON.stringify(plan), { mode: 0o600, flag: "wx" });
  const output = openSync(log, "a", 0o600);
  const [, program = ""] = process.argv;
  const child = spawn(
    process.execPath,
    [program, "start-detached", file, "--plain", "--home", io.home, "--cwd", io.cwd],
    {
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...process.env },
    },
  );
  let failure: string | undefined;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code) => (failure ??= `it ended with ${code ?? "a signal"}`));
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const stored = await storedRun(io, plan.runId);
    if (stored !== undefined) {
      child.unref();
      await printRest(
        io,
        { run: stored, performedBy: `process ${child.pid ?? "?"}` },
        { stream: false, exit: EXIT.ok, did: `started ${plan.runId}` },
      );
      if (io.quiet && !io.json) io.out(plan.runId);
      return EXIT.ok;
    }
    if (failure !== undefined || performance.now() > until) {
      const tail = readFileSync(log, "utf8").slice(-2000).trim();
      rmSync(file, { force: true });
      throw new CliError("detach_failed", `The process for the run did not start it: ${failure ?? "no answer"}.`, tail);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A store that the other process is just creating cannot be read yet. */
async function storedRun(io: Io, runId: string): Promise<Run | undefined> {
  try {
    const store = await openForReading(io);
    const stored = await store?.loadRun(runId);
    store?.close();
    return stored?.run;
  } catch {
    return undefined;
  }
}

/** The first act of the other process: it takes the plan, which is used once. */
export function takePlan(file: string): CommandPlan {
  const plan = JSON.parse(readFileSync(file, "utf8")) as CommandPlan;
  rmSync(file);
  return plan;
}
