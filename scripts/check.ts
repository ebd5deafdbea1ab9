// `npm run check`: the only gate, the same on a laptop and in CI. It runs every step even after a failure, prints the output of failed
// steps, and ends with the test summary. The steps are scripts of package.json. Two run side by side; the tests have the machine for themselves.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT, SLOWEST } from "./report.ts";

// The build removes and makes `dist`, so it comes after the step that reads package.json's entries into it, and before the tests, which
// open its dashboard.
const PACKAGE: Step = { script: "package", name: "package" };
const BUILD: Step = { script: "build", name: "build", next: PACKAGE };

/** Two at a time, in this order. */
const BEFORE_TESTS: readonly Step[] = [
  { script: "lint", name: "lint" },
  // Mostly waits for a registry. By hand the tests with agent CLIs may be left out, so nothing is installed unasked.
  ...(process.env["PASSRAIL_CONTRACT"] === "required" ? [{ script: "agent-clis", name: "agent CLIs" }] : []),
  { script: "deadcode", name: "dead code", next: BUILD },
  { script: "format", name: "format" },
  { script: "types", name: "types" },
];
const TESTS: readonly Step[] = [
  { script: "test", name: "tests", next: { script: "spec", name: "acceptance list", args: "--check" } },
];
const AT_ONCE = 2;
/** A step that hangs must not block CI silently. */
const STEP_LIMIT_MS = 60 * 60_000;
const END_LINES = 40;
const SUMMARY = /^\d+ passed, \d+ failed(, \d+ skipped)?$/;

type Step = {
  readonly script: string;
  readonly name: string;
  readonly args?: string;
  /** A step that comes after this one, whatever became of it. */
  readonly next?: Step;
};
type Ended = { readonly ok: boolean; readonly output: string };

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const failures: string[] = [];
let summary = "no tests ran";
let done = 0;
const startedAt = performance.now();

/** How each step that runs is ended with everything it started. */
const trees = new Set<() => unknown>();
const interrupted = () => {
  for (const endTree of trees) endTree();
  process.exit(130);
};
process.once("SIGINT", interrupted).once("SIGTERM", interrupted);

await performAll(BEFORE_TESTS);
await performAll(TESTS);

console.log(failures.length === 0 ? `all ${done} steps ok, ${seconds(startedAt)}` : `failed: ${failures.join(", ")}`);
console.log(summary);
process.exitCode = failures.length === 0 ? 0 : 1;

async function performAll(steps: readonly Step[]): Promise<void> {
  const waiting = [...steps];
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = step.next ?? waiting.shift()) await perform(step);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function perform(step: Step): Promise<void> {
  const stepStartedAt = performance.now();
  const { ok, output } = await run(step);
  done += 1;
  console.log(`${ok ? "ok    " : "FAILED"} ${step.name.padEnd(16)} ${seconds(stepStartedAt)}`);
  if (!ok) {
    failures.push(step.name);
    // The end comes first: a step reports its errors there, and tools that truncate this output keep the beginning.
    const lines = output.trimEnd().split("\n");
    console.log(`${lines.slice(-END_LINES).join("\n")}\n`);
    if (lines.length > END_LINES) console.log(`the whole output of ${step.name}:\n${lines.join("\n")}\n`);
  }
  if (step.script !== "test") return;
  for (const line of [...slowLines(output), ...unsteadyLines(output)]) console.log(line);
  const found = output.trimEnd().split("\n");
  summary = found.findLast((line) => SUMMARY.test(line)) ?? summary;
}

/** Every run ends with the slowest test files, so that a slow one is noticed. */
function slowLines(output: string): readonly string[] {
  const lines = output.split("\n");
  const at = lines.lastIndexOf(SLOWEST);
  if (at === -1) return [];
  const end = lines.findIndex((line, index) => index > at && !/^ +[0-9.]+ s {2}/u.test(line));
  return lines.slice(at, end === -1 ? undefined : end);
}

/** A test that passed only when it ran alone is no failure, and must not be overlooked, either. */
function unsteadyLines(output: string): readonly string[] {
  return output.split("\n").filter((line) => line.startsWith("unsteady: "));
}

async function run(step: Step): Promise<Ended> {
  const command = scripts[step.script];
  if (command === undefined) return { ok: false, output: `package.json has no script called ${step.script}` };
  // Its own process group, so that a step that hangs ends with everything it started.
  const child = spawn([command, step.args].filter(Boolean).join(" "), {
    cwd: ROOT,
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env["PATH"]}` },
  });
  let output = "";
  const keep = (text: string) => (output += text);
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);

  const endTree = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  const timer = setTimeout(() => {
    keep(`\nended after ${STEP_LIMIT_MS / 60_000} minutes\n`);
    endTree();
  }, STEP_LIMIT_MS);
  trees.add(endTree);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    return { ok: code === 0, output };
  } finally {
    clearTimeout(timer);
    trees.delete(endTree);
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
