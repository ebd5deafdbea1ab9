// The gateway with the real agent CLIs: they ask their models through it, find no key, reach no other host, and are refused the request
// that is beyond their budget.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFiles } from "../../src/attempt/attempt-files.ts";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import { tokensOf } from "../../src/core/budget/usage.ts";
import { openItems } from "../../src/core/run/run.ts";
import { readTape } from "../../src/gateway/tape.ts";
import type { Turn } from "../fixtures/models/scenario.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { bubblewrapTests, whyLeftOut } from "../scenarios/sandbox/can-confine.ts";
import { contractTests } from "./installed.ts";
import { API_KEY, claude, codex, gemini, opencode, programOf, type Vendor } from "./vendors.ts";
import { ended, openWorld, type World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = await openWorld("gateway");
});
afterEach(() => world.close());

const LIMIT = 1_000_000;
const TOKENS = { input: 145_000, output: 1000, cached: 0 };
const ROOM = Math.ceil(LIMIT / (TOKENS.input + TOKENS.output));

const call = (bash: string): Turn => ({ do: [{ bash }], tokens: TOKENS });
const submit: Turn = {
  do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary: "Built." } } }],
};

/** Everything that was asked is on the tape, without the key, in a fraction of its bytes. */
async function expectTape({ home, attempts, models }: World): Promise<void> {
  const [attempt] = await attempts();
  const { tape } = attemptFiles(home, attempt?.runId ?? "", attempt?.stage ?? "", 1);
  const { exchanges: taped } = await readTape(tape);
  expect(taped.length).toBeGreaterThanOrEqual(ROOM);
  expect(models.requests.length).toBeLessThanOrEqual(taped.length);
  expect(JSON.stringify(taped)).not.toContain(API_KEY);
  const raw = taped.reduce((sum, { request, response }) => sum + request.length + response.length, 0);
  expect(statSync(tape).size / raw).toBeLessThan(0.3);
}

async function itemsOf({ home }: World) {
  const store = openForReading(home);
  const id = (await store?.listRuns({ limit: 1 }))?.[0]?.id ?? "";
  const run = (await store?.loadRun(id))?.run;
  store?.close();
  return run === undefined ? [] : openItems(run);
}

/** Its entry in the settings, with further variables. */
function started(vendor: Vendor, further: Readonly<Record<string, string>>): object {
  const { command, env } = programOf(vendor, world.dir, world.models.url);
  return { [vendor.cli]: { command, env: { ...env, ...further } } };
}

/** All that a program of the agent can see of its own processes: what it was started with, and what its shell gets. */
const LOOK = [
  "env",
  "tr '\\0' '\\n' < /proc/self/environ",
  // From its own process up to the agent's program, which has the marker; Passrail's own processes do not.
  'p=$$; while [ "$p" -gt 1 ] && grep -q PASSRAIL_MARKER /proc/$p/environ; do tr "\\0" "\\n" < /proc/$p/environ; tr "\\0" " " < /proc/$p/cmdline; p=$(cut -d" " -f4 /proc/$p/stat); done',
].join("; ");

describe.skipIf(contractTests() === "left out")("agents behind a gateway", () => {
  test.each([claude, codex, gemini, opencode])(
    "$cli finds no key and reaches no other host; its requests carry the key, and the one beyond the budget is refused",
    { timeout: 120_000 },
    async (vendor: Vendor) => {
      const [seen, asked] = [join(world.dir, "seen.txt"), join(world.dir, "asked.txt")];
      // Gemini CLI runs no command with a substitution in it.
      const script = join(world.dir, "look.sh");
      writeFileSync(script, LOOK);
      const others = ["http://other.example/x", "https://other.example/"].map((url) => `curl -sS -m 10 ${url}`);
      const turns = [
        call(`sh ${script} > ${seen} 2>&1; echo built > built.txt`),
        call(`(${others.join("; ")}) > ${asked} 2>&1; echo asked`),
        ...Array.from({ length: 20 }, (_, at) => call(`echo ${at} >> steps.txt`)),
      ] as const;
      world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
      world.playedBy(vendor, {
        gateway: { mode: "required", egress: [] },
        agents: { builder: { permission: "full" } },
        runners: started(vendor, { IS_SANDBOX: "1" }),
        budgets: { run: { tokens: LIMIT, usd: "none" } },
      });
      // The exit code for a limit.
      expect(await ended(world.build())).toBe(6);
      const requests = world.models.requests.filter(({ rule }) => rule === "builder");
      expect(requests).toHaveLength(ROOM);
      for (const { headers } of requests) expect(JSON.stringify(headers)).toContain(API_KEY);
      const told = readFileSync(seen, "utf8");
      expect(told).toContain("PASSRAIL_MARKER");
      expect(told).toContain("pr_gw_");
      expect(told).not.toContain(API_KEY);
      expect(readFileSync(asked, "utf8")).toContain("refuses other.example");
      const [attempt] = await world.attempts();
      expect(JSON.stringify(attempt?.outcome?.["warnings"])).toContain(
        "gateway_refused: other.example: it is not in gateway.egress",
      );
      expect(await itemsOf(world)).toMatchObject([{ kind: "budget", unit: "tokens", stopped: true }]);
      await expectTape(world);
      const { usage } = attemptFacts(attempt ?? { facts: {} });
      // opencode also asks for a title.
      expect(usage === null ? null : tokensOf(usage)).toBeGreaterThanOrEqual(ROOM * (TOKENS.input + TOKENS.output));
    },
  );

  test.skipIf(bubblewrapTests === "left out")(
    `in a sandbox no process and no file has the key${whyLeftOut}`,
    { timeout: 120_000 },
    async () => {
      // The pattern finds the key, and not itself.
      const pattern = `${API_KEY.slice(0, 20)}[${API_KEY.charAt(20)}]`;
      const processes = `cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '${pattern}'`;
      const files = `grep -rsl '${pattern}' "$HOME" /tmp /run /etc . | wc -l`;
      const count = `echo "processes $(${processes}), files $(${files}), tokens $(env | grep -c pr_gw_)"`;
      const turns = [call(`echo built > built.txt; ${count}`), submit, { text: "Done." }] as const;
      world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
      world.playedBy(claude, { gateway: { mode: "required" } });
      await ended(world.build("--workspace", "bubblewrap"));
      expect((await world.attempts())[0]?.outcome).toMatchObject({ health: "complete" });
      const told = JSON.stringify(world.models.requests.map(({ conversation }) => conversation.entries));
      expect(told).toContain("processes 0, files 0, tokens 1");
    },
  );

  test("a login that is no key bypasses the gateway, and the run says so", { timeout: 60_000 }, async () => {
    world.models.play({
      rules: [{ id: "builder", match: { prompt: "# Builder" }, turns: [submit, { text: "Done." }] }],
    });
    world.playedBy(claude, { gateway: { mode: "on" }, runners: started(claude, { ANTHROPIC_API_KEY: "" }) });
    await ended(world.build());
    const [attempt] = await world.attempts();
    expect(JSON.stringify(attempt?.outcome?.["warnings"])).toContain(
      "gateway_bypassed: claude does not go through the gateway",
    );
  });
});
