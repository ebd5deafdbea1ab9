// `npm run check`: the only gate, the same on a laptop and in CI. It runs every step even after a failure, prints the output of failed
// steps, and ends with the test summary. The steps are scripts of package.json.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT, SLOWEST } from "./report.ts";

const STEPS: readonly Step[] = [
  { script: "format", name: "format" },
  { script: "lint", name: "lint" },
  { script: "types", name: "types" },
  { script: "test", name: "tests" },
  { script: "spec", name: "acceptance list", args: "--check" },
  { script: "deadcode", name: "dead code" },
  { script: "build", name: "build" },
  { script: "package", name: "package" },
];
/** A step that hangs must not block CI silently. */
const STEP_LIMIT_MS = 60 * 60_000;
const END_LINES = 40;
const SUMMARY = /^\d+ passed, \d+ failed(, \d+ skipped)?$/;

type Step = { readonly script: string; readonly name: string; readonly args?: string };
type Ended = { readonly ok: boolean; readonly output: string };

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
const failures: string[] = [];
let summary = "no tests ran";
const startedAt = performance.now();

for (const step of STEPS) {
  const stepStartedAt = performance.now();
  const { ok, output } = await run(step);
  console.log(`${ok ? "ok    " : "FAILED"} ${step.name.padEnd(16)} ${seconds(stepStartedAt)}`);
  if (!ok) {
    failures.push(step.name);
    // The end comes first: a step reports its errors there, and tools that truncate this output keep the beginning.
    const lines = output.trimEnd().split("\n");
    console.log(`${lines.slice(-END_LINES).join("\n")}\n`);
    if (lines.length > END_LINES) console.log(`the whole output of ${step.name}:\n${lines.join("\n")}\n`);
  }
  if (step.script === "test") for (const line of slowLines(output)) console.log(line);
  if (step.script === "test")
    summary =
      output
        .trimEnd()
        .split("\n")
        .findLast((line) => SUMMARY.test(line)) ?? summary;
}

console.log(
  failures.length === 0 ? `all ${STEPS.length} steps ok, ${seconds(startedAt)}` : `failed: ${failures.join(", ")}`,
);
console.log(summary);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Every run ends with the slowest test files, so that a slow one is noticed. */
function slowLines(output: string): readonly string[] {
  const lines = output.split("\n");
  const at = lines.lastIndexOf(SLOWEST);
  if (at === -1) return [];
  const end = lines.findIndex((line, index) => index > at && !/^ +[0-9.]+ s {2}/u.test(line));
  return lines.slice(at, end === -1 ? undefined : end);
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
  const interrupted = () => {
    endTree();
    process.exit(130);
  };
  const timer = setTimeout(() => {
    keep(`\nended after ${STEP_LIMIT_MS / 60_000} minutes\n`);
    endTree();
  }, STEP_LIMIT_MS);
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    return { ok: code === 0, output };
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
