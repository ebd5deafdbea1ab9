// What limits an attempt on a node limits it on a worker: its time, the run's budget while it is spent, and resources that nothing there
// can hold.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { until } from "../../harness/until.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
afterEach(() => site.close());

/** Talks as Claude Code does, uses more than the run may, and never ends. */
const SPENDER = `
import { writeFileSync } from "node:fs";
writeFileSync(process.argv[2], String(process.pid));
const print = (line) => process.stdout.write(JSON.stringify({ session_id: "s-1", ...line }) + "\\n");
print({ type: "system", subtype: "init", model: "m", claude_code_version: "0.0.0", tools: [], mcp_servers: [] });
const usage = { input_tokens: 5_000_000, output_tokens: 500 };
const content = [{ type: "text", text: "working" }];
print({ type: "assistant", parent_tool_use_id: null, message: { id: "m-1", role: "assistant", content, usage } });
setInterval(() => {}, 1000);
`;

test("time, money and resources limit an attempt on a worker as on its node", { timeout: 240_000 }, async () => {
  site = await openSite({
    limits: { scout: { total: "2s" } },
    budgets: { run: { tokens: 4_000_000 } },
  });
  const { node } = site;
  const [program, pid] = [join(node.dir, "spender.mjs"), join(node.dir, "pid")];
  writeFileSync(program, SPENDER);
  const flow = readFileSync(join(import.meta.dirname, "../../../flows/routed.yaml"), "utf8")
    .replace("flow: routed", "flow: tight")
    .replace("aliases: [pipeline]", "aliases: []")
    .replace("limits: {", "limits: { memory: 64mb,");
  // Approved: it is the project's own.
  mkdirSync(join(node.project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(node.project, ".passrail", "flows", "tight.yaml"), flow);
  approveFiles(node.home, node.project);
  await site.join("box", {
    args: ["--slots", "3"],
    programs: { claude: { command: [process.execPath, program, pid] } },
  });
  const start = async (name: string, agent: string, runner: string): Promise<void> => {
    const words = ["run", name, "Look", "--input", `agent=${agent}`, "--workspace", "worktree"];
    expect(await node.passrail([...words, "--agent", `*=${runner}`, "--detach"])).toMatchObject({ code: 0 });
  };
  await start("routed", "scout", "/bin/sleep 60");
  await start("routed", "builder", "claude");
  await start("tight", "builder", "/bin/true");
  await site.seen("stage.finished", 3);
  const events = await site.events();
  const outcomes = events.flatMap((event) => (event.type === "stage.finished" ? [event.outcome] : []));
  expect(outcomes).toContainEqual(expect.objectContaining({ cause: "timeout" }));
  expect(outcomes).toContainEqual(expect.objectContaining({ cause: "over_budget" }));
  const unheld = expect.stringContaining("only a container can hold such a limit");
  expect(outcomes).toContainEqual(expect.objectContaining({ reason: unheld }));
  const runs = events.flatMap((event) => (event.type === "run.created" ? [event.id] : []));
  const attempts = (await Promise.all(runs.map((runId) => site.attempts(runId)))).flat();
  // The budget's next attempt waits for a person.
  const worked = attempts.filter(({ status }) => status === "done");
  expect(worked.map((record) => attemptFacts(record).claim?.worker)).toEqual(["box", "box", "box"]);
  const agent = Number(readFileSync(pid, "utf8"));
  await until("its program has ended", () => (existsSync(`/proc/${agent}/cwd`) ? undefined : true));
});
