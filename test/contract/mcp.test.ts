// A person's own agent, the real program, works with runs through Passrail's MCP server: over standard input and over HTTP.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import type { Listening } from "../../src/http/server/listen.ts";
import { type Served, serve } from "../scenarios/http/served.ts";
import { type Bench, openBench, transcript } from "./bench.ts";
import { contractTests } from "./installed.ts";
import { claude, codex } from "./vendors.ts";
import { PROGRAM } from "../harness/program.ts";

describe.skipIf(contractTests() === "left out").each([
  { vendor: claude, create: createClaudeRunner },
  { vendor: codex, create: createCodexRunner },
])("$vendor.cli with the tools of the operator", { timeout: 60_000 }, ({ vendor, create }) => {
  let served: Served;
  let socket: Listening;
  let bench: Bench;
  let token: string;
  beforeAll(async () => {
    served = await serve();
    served.play({});
    socket = await served.listen();
    bench = await openBench(vendor, create);
    ({ token } = await served.keys.create({ name: vendor.cli, kind: "operator" }));
  });
  afterAll(async () => {
    await bench.close();
    await served.close();
  });

  const use = (tool: string, args: object) => ({ do: [{ mcp: { server: "runs", tool, args } }] });

  test.each(["stdio", "http"] as const)("it lists flows and starts a run over %s, in its key's name", async (way) => {
    const title = `Asked over ${way}`;
    bench.play({ [way]: [use("list_flows", {}), use("start_run", { flow: "feature", title }), { text: "Done." }] });
    const servers = {
      stdio: {
        command: [process.execPath, "--no-warnings", PROGRAM, "mcp"],
        env: { PASSRAIL_URL: socket.url, PASSRAIL_TOKEN: token },
      },
      http: { url: `${socket.url}/mcp`, headers: { Authorization: `Bearer ${token}` } },
    };
    const end = await bench.run({ prompt: `[${way}]`, options: { mcpServers: { runs: servers[way] } } });
    expect(end.conversation?.failure).toBeNull();
    const [run] = await served.bench.passrail.store.listRuns({ limit: 1 });
    expect(run).toMatchObject({ subject: { title } });
    const [created] = await served.bench.events(run?.id ?? "");
    expect(created).toMatchObject({ type: "run.created", actor: `human:${vendor.cli}` });
    const last = bench.asked(way).at(-1);
    const told = last === undefined ? "" : transcript(last);
    expect(told).toContain("build-plan");
    expect(told).toContain(run?.id);
  });
});
