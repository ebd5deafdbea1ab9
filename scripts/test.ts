// `npm test`: runs vitest on the Node that runs this script and ends with one line, "N passed, N failed".
// Arguments are passed on: `npm test -- src/core`. The report it leaves is what `npm run spec` reads.

import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { contractTests } from "../test/contract/installed.ts";
import { loadReport, REPORT_PATH, ROOT, summaryLine, tally } from "./report.ts";

const code = await runVitest(process.argv.slice(2));
process.exitCode = conclude(code);

function conclude(vitestCode: number): number {
  const report = loadReport();
  if (!report) {
    console.log(`vitest ended with code ${vitestCode} and left no report`);
    console.log(summaryLine({ passed: 0, failed: 1, skipped: 0 }));
    return 1;
  }
  for (const file of report.brokenFiles) console.log(`${file} failed outside of its tests (see above)`);
  const counts = tally(report);
  // An error outside of any test (an unhandled rejection) shows only in the exit code; it must show in the line too.
  const silent = vitestCode !== 0 && counts.failed === 0;
  if (silent) console.log(`vitest ended with code ${vitestCode} though no test failed (see above)`);
  if (counts.passed + counts.failed === 0) console.log("no test ran");
  const failed = silent ? 1 : counts.failed;
  if (contractTests() === "left out") {
    console.log("left out: the tests with real agent CLIs, which are not installed here (npm run agent-clis)");
  }
  console.log(summaryLine({ ...counts, failed }));
  return failed > 0 || counts.passed === 0 ? 1 : 0;
}

function runVitest(args: readonly string[]): Promise<number> {
  // A report of an earlier run must never stand for this one.
  rmSync(REPORT_PATH, { force: true });
  mkdirSync(dirname(REPORT_PATH), { recursive: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT_PATH}`];
  const child = spawn(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...reporters, ...args],
    // Programs that tests start by the name `node` must get this Node, not an older one of the system.
    {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
    },
  );
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode) => resolve(exitCode ?? 1));
  });
}
