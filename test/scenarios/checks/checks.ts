// Checks for tests: real programs that note each of their runs in a file outside the workspace, and judge the files they find.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckResult } from "../../../src/core/flow/check-result.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";

/** Passes if the script evaluates to true in the workspace; `fs` is there. */
export function check(dir: string, script: string, more: JsonObject = {}): JsonObject {
  const note = `fs.appendFileSync(${JSON.stringify(join(dir, "ran.log"))}, process.cwd() + "\\n")`;
  const code = `const fs = require("node:fs"); ${note}; process.exitCode = (${script}) ? 0 : 1;`;
  return { run: [process.execPath, "-e", code], timeoutMs: 60_000, env: [], ...more };
}

/** How often checks have run. */
export function timesRun(dir: string): number {
  const file = join(dir, "ran.log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

/** The results stored with each finished attempt: "build#1 test:failed". */
export function checksOf(events: readonly RunEvent[]): readonly string[] {
  return finishedChecks(events).flatMap(({ stage, attempt, checks }) =>
    checks.map(
      ({ name, state, cached }) => `${stage}#${attempt} ${name}:${state}${cached === undefined ? "" : " cached"}`,
    ),
  );
}

export function finishedChecks(
  events: readonly RunEvent[],
): readonly { readonly stage: string; readonly attempt: number; readonly checks: readonly CheckResult[] }[] {
  return events.flatMap((event) =>
    event.type === "stage.finished" && event.outcome.checks !== undefined
      ? [{ stage: event.stage, attempt: event.attempt, checks: event.outcome.checks }]
      : [],
  );
}
