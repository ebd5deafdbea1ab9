// `passrail mcp` as a real process, before a real app on a socket: what each kind of token may, and what lines may do to it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { mcp } from "../../../src/cli/commands/mcp/mcp.ts";
import type { Io } from "../../../src/cli/terminal/io.ts";
import { removeNote, writeNote } from "../../../src/daemon/note.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "../http/served.ts";
import { type Agent, startAgent } from "./agent.ts";

let served: Served;
let url: string;
let dir: string;
let robot: string;
let viewer: string;
beforeAll(async () => {
  served = await serve();
  served.play({});
  ({ url } = await served.listen());
  dir = mkdtempSync(join(tmpdir(), "passrail-mcp-"));
  robot = (await served.keys.create({ name: "robot", kind: "operator" })).token;
  viewer = (await served.keys.create({ name: "wall", kind: "viewer" })).token;
});
afterAll(async () => {
  await served.close();
  rmSync(dir, { recursive: true, force: true });
});

const agents: Agent[] = [];
afterEach(() => {
  for (const agent of agents.splice(0)) agent.child.kill("SIGKILL");
});

function start(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Agent {
  const agent = startAgent(["mcp", ...flags], { PASSRAIL_HOME: served.bench.home, ...env });
  agents.push(agent);
  return agent;
}

const namesOf = async (agent: Agent) => {
  const { result } = await agent.ask("tools/list");
  return (result?.["tools"] as { name: string; annotations: { readOnlyHint: boolean } }[]) ?? [];
};

const QUIET: Omit<Io, "environment" | "home" | "cwd"> = {
  out: () => {},
  err: () => {},
  json: false,
  plain: true,
  quiet: false,
  color: false,
  tty: false,
  columns: 80,
};

const ACTING = ["start_run", "answer_item", "cancel_run", "pause_run", "resume_run", "steer_run", "retry_stage"];

test("with a key it starts a run, waits for it, answers its gate in the key's name, and leaves when its agent does", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: robot });
  const hello = await agent.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} });
  expect(hello.result).toMatchObject({
    protocolVersion: "2025-06-18",
    serverInfo: { name: "passrail" },
    instructions: expect.stringContaining("never instructions"),
  });
  agent.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  const started = await agent.use("start_run", { flow: "feature", title: "Logout", body: null });
  const run = (started.value["run"] as { id: string }).id;
  const waited = await agent.use("wait_for", { run, seconds: 20 });
  expect(waited.value).toMatchObject({ reached: true, run: { status: "waiting" }, items: [{ kind: "gate" }] });
  const [item] = (await agent.use("list_inbox")).value["items"] as { id: string }[];
  const shown = await agent.use("show_item", { item: item?.id });
  const stale = await agent.use("answer_item", { item: item?.id, version: "old", answer: "approve" });
  expect(stale).toMatchObject({ isError: true, value: { error: { code: "version_mismatch" } } });
  const { version } = shown.value;
  expect(await agent.use("answer_item", { item: item?.id, version, answer: "approve" })).toMatchObject({
    isError: false,
    value: { answer: "approve" },
  });
  const events = await served.bench.events(run);
  expect(events.find((event) => event.type === "gate.answered")).toMatchObject({ actor: "human:robot" });
  expect((await agent.use("wait_for", { run, seconds: 20 })).value).toMatchObject({ reached: true });
  const log = await agent.use("run_log", { run, file: "prompt", limit: 200 });
  expect(log.value).toMatchObject({ file: "prompt", text: expect.any(String) });
  expect((await agent.use("pause_run", { run })).isError).toBe(false);
  expect((await agent.use("resume_run", { run })).isError).toBe(false);
  expect((await agent.use("cancel_run", { run, reason: "enough" })).value).toMatchObject({ changed: true });
  expect((await agent.use("retry_stage", { run })).value).toMatchObject({ error: { code: "run_ended" } });
  for (const name of ["list_runs", "list_flows", "list_agents", "cost"])
    expect((await agent.use(name)).isError).toBe(false);
  expect((await agent.use("show_flow", { flow: "feature" })).value).toMatchObject({ name: "feature" });
  expect(await agent.leave()).toBe(0);
  expect(agent.stderr()).toBe("");
});

test("S05: with a viewer's token, tools that act answer with the API's refusal, and nothing changes", async () => {
  const file = join(dir, "viewer.token");
  writeFileSync(file, `${viewer}\n`, { mode: 0o600 });
  const agent = start(["--token-file", file, "--url", url]);
  const { id } = await served.bench.run("feature", {});
  const seq = await served.seq();
  expect((await agent.use("show_run", { run: id })).isError).toBe(false);
  const item = (await agent.use("show_item", { item: `${id}.1` })).value;
  for (const [name, args] of [
    ["start_run", { flow: "feature", title: "x" }],
    ["answer_item", { item: `${id}.1`, version: item["version"], answer: "approve" }],
    ["cancel_run", { run: id }],
    ["pause_run", { run: id }],
    ["resume_run", { run: id }],
    ["steer_run", { run: id, text: "Stop." }],
    ["retry_stage", { run: id }],
  ] as const)
    expect(await agent.use(name, args)).toMatchObject({ isError: true, value: { error: { code: "scope_missing" } } });
  expect(await served.seq()).toBe(seq);
});

test("S06: without a token it may look at the daemon of the state folder; acting has to be asked for", async () => {
  const note = {
    pid: process.pid,
    url,
    version: "0",
    project: dir,
    startedAt: new Date().toISOString(),
    dispatches: false,
    standbyOf: null,
    publicUrl: null,
  };
  const early = start([]);
  expect(await early.use("list_runs")).toMatchObject({
    isError: true,
    value: { error: { code: "daemon_unreachable", hint: "Start it with: passrail up" } },
  });
  writeNote(served.bench.home, note);
  try {
    // The same process finds the daemon that was started after it.
    expect((await early.use("list_runs")).isError).toBe(false);
    const tools = await namesOf(early);
    expect(tools.filter(({ name }) => ACTING.includes(name))).toEqual([]);
    expect(tools.every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
    expect((await early.ask("tools/call", { name: "start_run", arguments: {} })).error).toMatchObject({ code: -32602 });
    const operator = start(["--operator"]);
    expect((await namesOf(operator)).map(({ name }) => name)).toEqual(expect.arrayContaining(ACTING));
    const begun = await operator.use("start_run", { flow: "feature", title: "In my name" });
    const { id } = begun.value["run"] as { id: string };
    expect((await served.bench.events(id))[0]).toMatchObject({ actor: "human:tester" });
  } finally {
    removeNote(served.bench.home);
  }
});

test("S06: what would lend a token to the wrong one is refused before a word is spoken", async () => {
  const refused = [
    { flags: { operator: false }, env: { PASSRAIL_MARKER: "x" }, code: "operator_only" },
    { flags: { operator: true }, env: { PASSRAIL_MARKER: "x", PASSRAIL_TOKEN: robot }, code: "operator_only" },
    { flags: { operator: false, url: "http://127.0.0.1:9" }, env: {}, code: "token_missing" },
    { flags: { operator: false, url: "http://box.example" }, env: { PASSRAIL_TOKEN: "t" }, code: "url_invalid" },
    { flags: { operator: false, tokenFile: join(dir, "nothing") }, env: {}, code: "token_file_missing" },
    { flags: { operator: false }, env: { PASSRAIL_TOKEN: "a b" }, code: "token_invalid" },
  ];
  for (const { flags, env, code } of refused) {
    const io = { ...QUIET, environment: env, home: served.bench.home, cwd: dir };
    await expect(mcp(io, flags)).rejects.toMatchObject({ code });
  }
});

test("a revision without a handshake is spoken too, and one that nobody knows is refused with the list", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: viewer });
  const meta = (version: string) => ({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  const found = await agent.ask("server/discover", meta("2026-07-28"));
  expect(found.result).toMatchObject({
    resultType: "complete",
    supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
    capabilities: { tools: {} },
    ttlMs: expect.any(Number),
    cacheScope: "private",
  });
  expect((await agent.ask("tools/list", meta("2026-07-28"))).result).toMatchObject({ resultType: "complete" });
  const listed = await agent.ask("tools/call", { name: "list_flows", ...meta("2026-07-28") });
  expect(listed.result).toMatchObject({ resultType: "complete", isError: false });
  expect((await agent.ask("tools/list", meta("2031-01-01"))).error).toMatchObject({
    code: -32022,
    data: { requested: "2031-01-01", supported: expect.arrayContaining(["2026-07-28"]) },
  });
  // A handshake for it is answered with the newest that has one.
  const hello = await agent.ask("initialize", { protocolVersion: "2026-07-28", capabilities: {} });
  expect(hello.result).toMatchObject({ protocolVersion: "2025-11-25" });
});

test("a client with forms lets its person decide: what they choose is bound to the version that they saw, and no passes nothing on", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: robot });
  const capabilities = { elicitation: {} };
  await agent.ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: {} });
  const { id } = await served.bench.run("feature", {});
  type Form = { id: string; method?: string; params: { message: string; requestedSchema: { properties: object } } };
  const forms = () =>
    agent.lines.map((line) => JSON.parse(line) as Form).filter((message) => message.method === "elicitation/create");
  const decideWith = async (result: object) => {
    const before = forms().length;
    const decided = agent.use("decide_item", { item: `${id}.1` });
    const form = await until("a form", () => forms()[before]);
    agent.send(JSON.stringify({ jsonrpc: "2.0", id: form.id, result }));
    return { form, decided: await decided };
  };
  const refused = await decideWith({ action: "decline" });
  expect(refused.form.params.message).toContain("gate:");
  expect(refused.form.params.requestedSchema.properties).toMatchObject({
    answer: { enum: expect.arrayContaining(["approve"]) },
    text: { type: "string" },
  });
  expect(refused.decided).toMatchObject({ isError: false, value: { decided: false, why: "decline" } });
  const odd = await decideWith({ action: "accept", content: { answer: "ship it" } });
  expect(odd.decided).toMatchObject({ isError: true });
  expect((await served.bench.events(id)).some(({ type }) => type === "gate.answered")).toBe(false);
  const yes = await decideWith({ action: "accept", content: { answer: "approve", text: "Looks right." } });
  expect(yes.decided).toMatchObject({ isError: false, value: { decided: true, answer: "approve" } });
  const answered = (await served.bench.events(id)).find(({ type }) => type === "gate.answered");
  expect(answered).toMatchObject({ actor: "human:robot" });
  // A form that nobody answers ends with its client.
  const other = await served.bench.run("feature", {});
  agent.send(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "decide_item", arguments: { item: `${other.id}.1` } },
    }),
  );
  await until("the last form", () => forms()[3]);
  expect(await agent.leave()).toBe(0);
  expect((await served.bench.events(other.id)).some(({ type }) => type === "gate.answered")).toBe(false);
});

test("a client without forms is told what to do instead", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: robot });
  await agent.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
  const { id } = await served.bench.run("feature", {});
  expect(await agent.use("decide_item", { item: `${id}.1` })).toMatchObject({
    isError: true,
    value: { error: { code: "elicitation_unsupported", hint: expect.stringContaining("answer_item") } },
  });
});

test("a long wait reports its progress to a caller that asked for it, and only to that one", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: robot });
  const { id: run } = await served.bench.run("feature", {});
  await agent.use("pause_run", { run });
  const item = (await agent.use("show_item", { item: `${run}.1` })).value;
  await agent.use("answer_item", { item: `${run}.1`, version: item["version"], answer: "approve" });
  await agent.use("wait_for", { run, seconds: 1 });
  expect(agent.lines.some((line) => line.includes("notifications/progress"))).toBe(false);
  const wait = { name: "wait_for", arguments: { run, seconds: 1 }, _meta: { progressToken: "here" } };
  await agent.ask("tools/call", wait);
  const reports = agent.lines
    .map((line) => JSON.parse(line) as { method?: string; params: { progress: number } })
    .filter(({ method }) => method === "notifications/progress")
    .map(({ params }) => params);
  expect(reports.length).toBeGreaterThan(1);
  expect(reports[0]).toMatchObject({ progressToken: "here", total: 1, message: expect.any(String) });
  expect(reports.map(({ progress }) => progress)).toEqual(
    [...new Set(reports.map(({ progress }) => progress))].toSorted((a, b) => a - b),
  );
});

test("runs, items, diffs, attempts and flows can be read by their addresses, with the rights of the token", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: viewer });
  const hello = await agent.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
  expect(hello.result).toMatchObject({ capabilities: { resources: { subscribe: false } } });
  const begun = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Read\u202e me" } });
  const { id } = begun.body["run"] as { id: string };
  const listed = (await agent.ask("resources/list")).result as { resources: { uri: string; title?: string }[] };
  const uris = listed.resources.map(({ uri }) => uri);
  expect(uris[0]).toBe("passrail://inbox");
  const mine = listed.resources.find(({ title }) => title?.includes("Read"));
  expect(mine?.title).toMatch(/^\d+ · Read me$/u);
  const templates = (await agent.ask("resources/templates/list")).result as {
    resourceTemplates: { uriTemplate: string }[];
  };
  expect(templates.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("passrail://runs/{run}/diff");
  const read = async (uri: string) => {
    const { result } = await agent.ask("resources/read", { uri });
    const [content] = (result?.["contents"] ?? []) as { uri: string; text: string }[];
    return content === undefined ? undefined : (JSON.parse(content.text) as Record<string, unknown>);
  };
  expect(await read(mine?.uri ?? "")).toMatchObject({ id, flow: "feature" });
  expect(await read(`passrail://inbox/${id}.1`)).toMatchObject({ kind: "gate" });
  expect(await read("passrail://inbox")).toMatchObject({ items: expect.any(Array) });
  expect(await read("passrail://flows/feature")).toMatchObject({ name: "feature" });
  expect(await read(`passrail://runs/${id}/diff`)).toBeDefined();
  const nothing = [
    "passrail://runs/999",
    "passrail://keys",
    "passrail://runs/..%2F..%2Fkeys",
    `passrail://runs/${id}/attempts/spec/1/secret`,
    "file:///etc/passwd",
    "",
  ];
  for (const uri of nothing)
    expect([uri, (await agent.ask("resources/read", { uri })).error]).toMatchObject([uri, { code: -32002 }]);
});

test("bad lines and bad arguments are answered, and do no harm", async () => {
  const agent = start([], { PASSRAIL_URL: url, PASSRAIL_TOKEN: robot });
  for (const line of ["", "{", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', "x".repeat(1_100_000), "[]", "null"])
    agent.send(line);
  await until("five answers", () =>
    agent.lines.filter((line) => line.includes('"id":null')).length === 5 ? 1 : undefined,
  );
  const long = await agent.use("start_run", { flow: "feature", title: "x".repeat(300) });
  expect(long.value).toMatchObject({ error: { code: "invalid_title" } });
  expect((await agent.use("wait_for", { run: "1", seconds: 900 })).value).toMatchObject({
    error: { code: "invalid_arguments" },
  });
  expect((await agent.use("show_run", { run: "../../api/keys" })).value).toMatchObject({
    error: { code: "invalid_id" },
  });
  expect((await agent.ask("ping")).result).toEqual({});
});
