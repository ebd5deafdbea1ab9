// `passrail agent list` and `agent test` with the real programs: what is there, and one tiny attempt from end to end.

import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, settingsFor, type Vendor } from "./vendors.ts";
import { PROGRAM } from "../harness/program.ts";

let dir: string;
let models: FakeModels;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-try-")));
  const args = { verdict: "pass", summary: "Hello." };
  const submit = { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] };
  models = await startFakeModels({
    scenario: {
      rules: [{ id: "try", match: { prompt: "test of the connection" }, turns: [submit, { text: "Done." }] }],
    },
  });
});
afterEach(async () => {
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(contractTests() === "left out")("looking for programs, and trying them", () => {
  test.each([claude, codex, gemini, opencode])(
    "agent test $cli goes from start to verdict and tells the cost",
    { timeout: 90_000 },
    async (vendor) => {
      const { steps, ok, usage } = await tried(vendor);
      expect(steps.map((step) => [step.name, step.ok])).toEqual([
        ["started", true],
        ["answered", true],
        ["verdict by tool", true],
      ]);
      expect(ok).toBe(true);
      expect(usage.inputTokens).toBeGreaterThan(0);
    },
  );

  test("a program whose login is refused says so and how to log in", { timeout: 90_000 }, async () => {
    models.play({ rules: [], fallback: { fail: { status: 401 } } });
    const { steps, ok } = await tried(claude);
    expect(ok).toBe(false);
    expect(steps.at(-1)?.detail).toMatch(/ANTHROPIC_API_KEY|log in/u);
  });

  test("agent list names the version of a program and whether somebody is logged in", { timeout: 60_000 }, async () => {
    const { runners } = await passrail<{ runners: readonly object[] }>(claude, "agent", "list", "--json");
    expect(runners).toContainEqual(
      expect.objectContaining({
        runner: "claude",
        status: "found",
        version: "2.1.325",
        login: expect.objectContaining({ state: "yes" }),
      }),
    );
  });
});

type Tried = {
  readonly ok: boolean;
  readonly steps: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly usage: { readonly inputTokens: number };
};

const tried = (vendor: Vendor): Promise<Tried> => passrail(vendor, "agent", "test", vendor.cli, "--json");

async function passrail<T>(vendor: Vendor, ...args: readonly string[]): Promise<T> {
  writeFileSync(join(dir, "passrail.yaml"), JSON.stringify(settingsFor(vendor, dir, models.url)));
  approveFiles(join(dir, "state"), dir);
  const run = promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    cwd: dir,
    env: { ...process.env, PASSRAIL_HOME: join(dir, "state") },
  });
  // A test that failed ends with 1 and still prints its steps.
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
  return JSON.parse(stdout) as T;
}
