// The whole program and the process of an attempt are killed while a real agent CLI is in the middle of a tool. The next attempt goes on in
// the vendor's session: it is told of the interruption and of what is in the work tree, and no request is paid twice.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { type FakeModels, type ModelRequest, startFakeModels } from "../fixtures/models/server.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/new-repository.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, settingsFor } from "./vendors.ts";

/** Of every answer of the model. */
const TURN = { input: 1000, output: 10, cached: 0 };

let dir: string;
let home: string;
let models: FakeModels;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-interrupted-")));
  home = join(dir, "state");
  mkdirSync(home);
  const args = { verdict: "APPROVE", summary: "Built." };
  const tools = join(dir, "tools");
  models = await startFakeModels({
    scenario: {
      rules: [
        {
          id: "resumed",
          match: { prompt: "You were interrupted" },
          turns: [
            { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }], tokens: TURN },
            { text: "Done.", tokens: TURN },
          ],
        },
        {
          id: "builder",
          match: { prompt: "# Builder" },
          turns: [
            {
              do: [
                {
                  bash: "echo one > one.txt && git add one.txt && git -c user.name=a -c user.email=a@b commit -qm 'SAID-BY-THE-AGENT'",
                },
              ],
              tokens: TURN,
            },
            {
              do: [{ bash: `echo two > two.txt; echo started >> ${tools}; until false; do sleep 0.2; done` }],
              tokens: TURN,
            },
            { text: "Done.", tokens: TURN },
          ],
        },
      ],
    },
  });
});
afterEach(async () => {
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(contractTests() === "left out")("an attempt whose process is killed", () => {
  test.each([claude, codex, gemini, opencode])(
    "R-X-05, R11: $cli goes on in its session after a kill of everything: it is told, and nothing is asked twice",
    { timeout: 240_000 },
    async (vendor) => {
      const project = newRepository(dir);
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settingsFor(vendor, dir, models.url)));
      approveFiles(home, project);
      const work = ["run", "routed", "Build it", "--input", "input.agent=builder", "--workspace", "worktree"];
      const run = passrail(project, ...work);
      await until("the agent runs its tool", () => (existsSync(join(dir, "tools")) ? true : undefined), 120_000);
      const { carrier } = attemptFacts((await attempts())[0] ?? { facts: {} });
      run.kill("SIGKILL");
      process.kill(carrier?.pid ?? 0, "SIGKILL");
      await ended(run);
      await ended(passrail(project, "runs", "watch", "1"));

      const [first, second] = await attempts();
      expect(first).toMatchObject({ stage: "builder", attempt: 1, status: "interrupted" });
      expect(second).toMatchObject({ stage: "builder", attempt: 2, status: "done", outcome: { verdict: "pass" } });
      const session = attemptFacts(first ?? { facts: {} }).session?.id;
      expect(session).toBeDefined();
      expect(attemptFacts(second ?? { facts: {} }).session?.id).toBe(session);
      expect(attemptFacts(second ?? { facts: {} }).files).toContain("two.txt");
      // What the interrupted part used is booked on it, from the vendor's own file, and not once more on the next.
      const booked = await spent();
      expect(booked.map(({ attempt }) => attempt)).toEqual([1, 2]);
      const answered = models.requests.filter(({ rule, aborted }) => rule !== "(side)" && !aborted);
      expect(answered.length).toBeGreaterThanOrEqual(3);
      const [before = 0, after = 0] = booked.map(({ output }) => output ?? 0);
      // opencode writes the tokens of a turn when its tools have returned.
      expect(before).toBeGreaterThanOrEqual(vendor.cli === "opencode" ? TURN.output : 2 * TURN.output);
      expect(after).toBeGreaterThanOrEqual(TURN.output);
      expect(before + after).toBeLessThanOrEqual(answered.length * TURN.output);
      expect(findMarked(`${storeMark(realpathSync(home))}/`)).toEqual([]);

      // Each turn of the first attempt was asked for once, and the second goes on after them.
      expect(asked("builder").map(({ turn }) => turn)).toEqual([0, 1]);
      const [resumed] = asked("resumed");
      const told = JSON.stringify(resumed?.conversation);
      expect(told).toContain("# Builder");
      expect(told).toContain("1 commit");
      expect(told).toContain("one.txt | +1 -0");
      expect(told).toContain("two.txt | +1 -0");
      // In what it is told now; its own earlier call is in the conversation.
      expect(lastSaid(resumed)).not.toContain("SAID-BY-THE-AGENT");
    },
  );
});

const asked = (rule: string): readonly ModelRequest[] => models.requests.filter((request) => request.rule === rule);

function lastSaid(request: ModelRequest | undefined): string {
  const said = request?.conversation.entries.findLast(({ role }) => role === "user");
  return said?.role === "user" ? said.text : "";
}

async function spent() {
  const store = openForReading(home);
  const events = (await store?.events({ after: 0, limit: 1000 })) ?? [];
  store?.close();
  return events.flatMap(({ event }) =>
    event.type === "usage.recorded" && event.stage === "builder"
      ? [{ attempt: event.attempt, output: event.usage.outputTokens }]
      : [],
  );
}

async function attempts() {
  const store = openForReading(home);
  const found = (await store?.attempts((await store.listRuns({ limit: 1 }))[0]?.id ?? "")) ?? [];
  store?.close();
  return found;
}

function passrail(cwd: string, ...args: readonly string[]) {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...process.env, PASSRAIL_HOME: home },
    stdio: "ignore",
  });
}

function ended(child: ReturnType<typeof passrail>): Promise<number | null> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => void child.once("exit", resolve));
}
