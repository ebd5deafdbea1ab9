// The demo as users and `npm start` see it: a child process without a terminal, in a temporary folder that has to be empty afterwards.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROGRAM } from "../../harness/program.ts";
import { until } from "../../harness/until.ts";

/** What `npm start` calls. */
const SOURCE = join(import.meta.dirname, "..", "..", "..", "src", "cli", "main.ts");
const LIMIT_MS = 180_000;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "passrail-demo-test-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function startDemo(main: string, ...args: readonly string[]) {
  const environment = {
    ...process.env,
    TMPDIR: folder,
    NO_COLOR: "1",
    PASSRAIL_HOME: join(folder, "..", "nobody-writes-here"),
  };
  const child = spawn(process.execPath, [main, "demo", ...args], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, output, errors }));
  });
  return { child, ended, output: () => output };
}

describe("demo", { timeout: LIMIT_MS }, () => {
  test("it shows a loop, a question, an escalation and both gates, and leaves nothing behind", async () => {
    const { code, output, errors } = await startDemo(SOURCE).ended;
    expect(errors).toBe("");
    expect(code).toBe(0);
    const inOrder = [
      "start   gate: owner decides",
      "start   gate answered: approve",
      "spec    question: ",
      "spec    question answered: ",
      "qa      REVISE: ",
      "sent back: revision loop 1 of 2",
      "qa      SHIP: 3 of 3 cases pass",
      "review  escalation: ",
      "review  escalation resolved: again",
      "ship    gate answered: approve",
      "run     completed",
      "2 gates, 1 question, 1 escalation",
      "Branch feat/slugify",
      "fix: slugify folds accents",
      "passrail flow list",
    ];
    expect(inOrder.filter((text) => !output.includes(text))).toEqual([]);
    const places = inOrder.map((text) => output.indexOf(text));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(output).not.toContain("\u001b");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("with --json every line is an event, and the last one is the summary", async () => {
    const { code, output } = await startDemo(PROGRAM, "--json").ended;
    expect(code).toBe(0);
    const lines = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ type: "run.created", flow: "demo" });
    expect(lines.at(-1)).toMatchObject({
      summary: {
        state: "completed",
        status: "shipped",
        gates: 2,
        questions: 1,
        escalations: 1,
        loops: { revision: 1, polish: 1 },
      },
    });
    expect(lines.slice(0, -1).every((line) => typeof line["type"] === "string")).toBe(true);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s in the middle of an attempt ends it and leaves nothing behind",
    async (signal) => {
      const demo = startDemo(PROGRAM);
      await until("an attempt was started", () => demo.output().includes("spec    attempt 1") || undefined);
      demo.child.kill(signal);
      const { code, errors } = await demo.ended;
      expect(errors).toContain("nothing is left behind");
      expect(code).toBe(130);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  // `script` gives it a terminal; where that is missing there is none to be had.
  const hasTerminal = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;
  test.runIf(hasTerminal)("on a terminal it ends with the dashboard on its runs, until Ctrl-C", async () => {
    const child = spawn(
      "script",
      [
        "-qefc",
        `stty cols 100 rows 40; exec "${process.execPath}" "${PROGRAM}" demo --scripted --speed 50`,
        "/dev/null",
      ],
      {
        env: { ...process.env, TMPDIR: folder, PATH: "/usr/bin:/bin", DISPLAY: "", BROWSER: "true" },
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const found = await until(
      "the dashboard",
      () => /(http:\/\/127\.0\.0\.1:\d+)\/#login=(\S+)/.exec(output) ?? undefined,
      LIMIT_MS,
    );
    const [, url = "", code = ""] = found;
    const session = await fetch(`${url}/api/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${code}`, "content-type": "application/json" },
      body: "{}",
    });
    const { token } = (await session.json()) as { token: string };
    const runs = await fetch(`${url}/api/runs`, { headers: { authorization: `Bearer ${token}` } });
    expect(((await runs.json()) as { runs: { flow: string }[] }).runs.map(({ flow }) => flow)).toEqual([
      "feature",
      "feature",
      "demo",
    ]);
    child.stdin.write("\u0003");
    expect(await ended).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});
