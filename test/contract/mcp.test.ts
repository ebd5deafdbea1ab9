// A person's own agent, the real program, works with runs through Passrail's MCP server: over standard input and over HTTP.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import type { Listening } from "../../src/http/server/listen.ts";
import { type Served, serve } from "../scenarios/http/served.ts";
import { type Bench, openBench, transcript } from "./bench.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { cliPath, contractTests } from "./installed.ts";
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

describe.skipIf(contractTests() === "left out")("a form in the real Claude Code", { timeout: 90_000 }, () => {
  let served: Served;
  let models: FakeModels;
  let dir: string;
  beforeAll(async () => {
    served = await serve();
    served.play({});
    dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-form-")));
    for (const name of ["home", "project"]) mkdirSync(join(dir, name));
  });
  afterAll(async () => {
    await models?.close();
    await served.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("its person decides a gate in the form, here through its hook for forms, and the run goes on in their name", async () => {
    const { id } = await served.bench.run("feature", {});
    const socket = await served.listen();
    const { token } = await served.keys.create({ name: "ann", kind: "operator" });
    const call = { mcp: { server: "passrail", tool: "decide_item", args: { item: `${id}.1` } } };
    models = await startFakeModels({
      scenario: { rules: [{ id: "form", match: { prompt: "[form]" }, turns: [{ do: [call] }, { text: "Done." }] }] },
    });
    const answer = join(dir, "answer.mjs");
    const form = join(dir, "form.json");
    const said = { hookEventName: "Elicitation", action: "accept", content: { answer: "approve" } };
    writeFileSync(
      answer,
      `import { readFileSync, writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(form)}, readFileSync(0, "utf8"));
console.log(${JSON.stringify(JSON.stringify({ hookSpecificOutput: said }))});
`,
    );
    const hook = { type: "command", command: `'${process.execPath}' '${answer}'` };
    const settings = JSON.stringify({ hooks: { Elicitation: [{ matcher: "", hooks: [hook] }] } });
    const server = {
      command: process.execPath,
      args: ["--no-warnings", PROGRAM, "mcp"],
      env: { PASSRAIL_URL: socket.url, PASSRAIL_TOKEN: token },
    };
    const words = ["-p", "[form] Let me decide.", "--mcp-config", JSON.stringify({ mcpServers: { passrail: server } })];
    const allowed = ["--strict-mcp-config", "--allowedTools", "mcp__passrail__decide_item", "--settings", settings];
    await promisify(execFile)(cliPath("claude"), [...words, ...allowed], {
      cwd: join(dir, "project"),
      env: {
        HOME: join(dir, "home"),
        PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ...claude.setUp("", models.url, "sk-ant-api03-form00000000000000000000000000000000000"),
      },
    });
    expect(JSON.parse(readFileSync(form, "utf8"))).toMatchObject({ mcp_server_name: "passrail" });
    const answered = (await served.bench.events(id)).find(({ type }) => type === "gate.answered");
    expect(answered).toMatchObject({ answer: "approve", actor: "human:ann" });
  });
});
