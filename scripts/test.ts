// `npm test`: runs vitest on the Node that runs this script and ends with one line, "N passed, N failed". Arguments are passed on: `npm
// test -- src/core`. `npm run spec` reads the report. Many tests start real processes and can be late on a busy machine, so a failed file
// runs once more, alone; a test that passes then is listed as unsteady.

import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { contractTests } from "../test/contract/installed.ts";
import {
  AGAIN_PATH,
  loadReport,
  readReport,
  REPORT_PATH,
  ROOT,
  slowestFiles,
  summaryLine,
  tally,
  type TestRecord,
  type TestReport,
} from "./report.ts";

const SHOWN_FILES = 10;
/** More failures than this are not caused by a busy machine. */
const UNSTEADY_FILES = 6;

for (const path of [REPORT_PATH, AGAIN_PATH]) rmSync(path, { force: true });
const code = await runVitest(REPORT_PATH, process.argv.slice(2));
const first = readReport(REPORT_PATH);
const suspects = code === 0 ? [] : filesToRepeat(first);
const last = suspects.length === 0 ? code : await runVitest(AGAIN_PATH, ["--maxWorkers=1", ...suspects]);
process.exitCode = conclude(last);

/** Empty where a repetition proves nothing: too much failed, or an error belongs to no file. */
function filesToRepeat(report: TestReport | null): readonly string[] {
  if (report === null) return [];
  const files = new Set([...failedIn(report).map(({ file }) => file), ...report.brokenFiles]);
  return files.size > UNSTEADY_FILES ? [] : [...files];
}

function failedIn(report: TestReport): readonly TestRecord[] {
  return report.tests.filter(({ status }) => status === "failed");
}

/** Failures and their causes in a few lines at the end of the output, where people look for them. */
function tellFailures(report: TestReport): void {
  for (const { file, name, message = "" } of failedIn(report)) {
    console.log(`✖ ${file} > ${name}`);
    for (const line of message.split("\n").slice(0, 8)) console.log(`    ${line}`);
  }
  const stillFailing = new Set(failedIn(report).map(({ file, name }) => `${file} > ${name}`));
  const before = first === null ? [] : failedIn(first);
  for (const { file, name, message = "" } of before) {
    if (stillFailing.has(`${file} > ${name}`)) continue;
    console.log(`unsteady: ${file} > ${name} (failed beside others, passed alone): ${message.split("\n")[0] ?? ""}`);
  }
}

function conclude(vitestCode: number): number {
  const report = loadReport();
  if (!report) {
    console.log(`vitest ended with code ${vitestCode} and left no report`);
    console.log(summaryLine({ passed: 0, failed: 1, skipped: 0 }));
    return 1;
  }
  for (const line of slowestFiles(report, SHOWN_FILES)) console.log(line);
  tellFailures(report);
  for (const file of report.brokenFiles) console.log(`${file} failed outside of its tests (see above)`);
  const counts = tally(report);
  // An error outside of any test (an unhandled rejection) shows only in the exit code; the summary must report it too.
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

function runVitest(report: string, args: readonly string[]): Promise<number> {
  mkdirSync(dirname(report), { recursive: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...reporters, ...args],
    // Programs that tests start by the name `node` must get this Node, not an older one of the system.
    {
      cwd: ROOT,
      stdio: "inherit",
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
        // Tests start thousands of short programs from source: a shared compile cache halves their start time.
        NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compiled"),
        // No test calls a server outside of this machine. With further authorities each start of Node that loads its cryptography reads
        // all of those it knows: 5 ms of the processor.
        NODE_EXTRA_CA_CERTS: undefined,
      },
    },
  );
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode) => resolve(exitCode ?? 1));
  });
}
