// Secrets of every shape and origin, one real daemon, one feature through gate, revision and gate; then every byte that left is looked at.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { pathOf, type ApiRoute } from "../../../src/http/contract/route.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { type Bench, openBench, type Started } from "../cli/bench.ts";
import { until } from "../../harness/until.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 });

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");
const WAIT_MS = 60_000;

/** Where each comes from. The first four have no shape: only their origin tells that they are secret. */
const SECRETS = {
  environment: "tr0ub4dor-and-3-words",
  agentsVariable: "correct-horse-battery-staple-17",
  webhookSecret: `whsec_${Buffer.from("a-secret-of-a-webhook-1234567890").toString("base64")}`,
  endpointAddress: "hook-token-9f8e7d6c5b4a",
  keyInEnvFile: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
  anthropic: `sk-ant-api03-${"abC1".repeat(10)}`,
  aws: "AKIAIOSFODNN7EXAMPLE",
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.${"s1G-_n".repeat(8)}`,
  pem: `-----BEGIN PRIVATE KEY-----\n${`${"MIIEabc+/9".repeat(6)}\n`.repeat(4)}-----END PRIVATE KEY-----`,
};
/** Those that an agent of this project sees or finds, and so can print. */
const PRINTED: readonly (keyof typeof SECRETS)[] = [
  "environment",
  "agentsVariable",
  "keyInEnvFile",
  "anthropic",
  "aws",
  "jwt",
  "pem",
];
const hex = (text: string, width: number): string => (text.codePointAt(0) ?? 0).toString(16).padStart(width, "0");
const FORMS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => Buffer.from(secret).toString("base64"),
  (secret) => Array.from(secret, (each) => `\\u${hex(each, 4)}`).join(""),
  (secret) => Array.from(secret, (each) => `%${hex(each, 2)}`).join(""),
];

/** The middle of each form: base64 shares its ends with its neighbours. */
function leaksIn(text: string, own: Readonly<Record<string, string>> = {}): readonly string[] {
  const middle = (all: string): string => all.slice(Math.floor(all.length * 0.2), Math.ceil(all.length * 0.8));
  return Object.entries({ ...SECRETS, ...own }).flatMap(([name, secret]) =>
    FORMS.some((form) => text.includes(middle(form(secret)))) ? [name] : [],
  );
}

let bench: Bench;
let daemon: Started;
let url = "";
let token = "";
let run = "";
let live = "";
const notices: string[] = [];
const hooks = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => (body += text));
  request.on("end", () => {
    // The address itself is the secret of this endpoint, and it may know it.
    notices.push(body);
    response.writeHead(204).end();
  });
});
const streaming = new AbortController();

beforeAll(async () => {
  bench = openBench();
  await new Promise<void>((listening) => hooks.listen(0, "127.0.0.1", listening));
  plant((hooks.address() as AddressInfo).port);
  const env = { ADMIN_PASSWORD: SECRETS.environment, ANTHROPIC_API_KEY: SECRETS.anthropic };
  daemon = bench.start(["up", "--port", "0"], { env });
  let out = "";
  daemon.child.stdout?.on("data", (text: string) => (out += text));
  const gone = daemon.ended.then(({ err }) => {
    throw new Error(`the daemon ended: ${err}`);
  });
  gone.catch(() => undefined);
  const listens = until("the daemon listens", () => /^Passrail is up: (\S+)$/mu.exec(out)?.[1], WAIT_MS);
  url = await Promise.race([listens, gone]);
  token = readFileSync(join(bench.home, "operator.token"), "utf8").trim();
  follow().catch(() => undefined); // it ends when the test does
  await walk();
});
afterAll(async () => {
  streaming.abort();
  daemon.child.kill("SIGTERM");
  await daemon.ended;
  hooks.close();
  bench.remove();
});

/** Settings of the project and of the user, the key file, the agent and its script. */
function plant(port: number): void {
  const all = PRINTED.flatMap((name) => FORMS.map((form) => form(SECRETS[name]))).join("\n");
  const said = { summary: all, reason: all };
  const leaky = { [`notes-${SECRETS.keyInEnvFile}.txt`]: all };
  const script = {
    spec: [{ via: "json-tail", verdict: "APPROVED", ...said }],
    design: [{ via: "json-tail", verdict: "APPROVED", ...said }],
    build: [
      { via: "json-tail", verdict: "COMPLETE", ...said, write: leaky, commit: true },
      { via: "json-tail", verdict: "COMPLETE", ...said, write: { "b.txt": all }, commit: true },
    ],
    qa: [
      { via: "json-tail", verdict: "REVISE", ...said, issues: [all, { severity: "major", description: all }] },
      { via: "json-tail", verdict: "SHIP", ...said },
    ],
  };
  const files = { script: join(bench.dir, "script.json"), lines: join(bench.dir, "lines.txt") };
  writeFileSync(files.script, JSON.stringify(script));
  writeFileSync(files.lines, `${all}\n`);
  const agent = join(bench.dir, "agent.mjs");
  writeFileSync(
    agent,
    `import { readFileSync, writeFileSync } from "node:fs";
    const lines = readFileSync(${JSON.stringify(files.lines)}, "utf8") + JSON.stringify(process.env) + "\\n";
    process.stdout.write(lines);
    process.stderr.write(lines);
    if (process.env.PASSRAIL_HANDOFF_FILE) writeFileSync(process.env.PASSRAIL_HANDOFF_FILE, lines);
    await import(${JSON.stringify(PLAYER)});`,
  );
  writeFileSync(join(bench.project, ".env"), `GITHUB_TOKEN=${SECRETS.keyInEnvFile}\n`);
  writeFileSync(
    join(bench.project, "passrail.yaml"),
    JSON.stringify({
      agents: { "*": { command: [process.execPath, agent, files.script] } },
      environment: { pass: ["ADMIN_PASSWORD", "ANTHROPIC_API_KEY", "GITHUB_TOKEN"] },
    }),
  );
  const secretFile = join(bench.dir, "hook.secret");
  const addressFile = join(bench.dir, "hook.url");
  for (const [file, text] of [
    [secretFile, SECRETS.webhookSecret],
    [addressFile, `http://127.0.0.1:${port}/${SECRETS.endpointAddress}`],
  ] as const)
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
  mkdirSync(join(bench.dir, "config", "passrail"), { recursive: true });
  writeFileSync(
    join(bench.dir, "config", "passrail", "passrail.yaml"),
    JSON.stringify({
      runners: { command: { env: { SERVICE_TOKEN: SECRETS.agentsVariable } } },
      notify: {
        endpoints: [{ name: "team", format: "slack", url_file: addressFile, allow_http: true, allow_private: true }],
      },
      webhooks: { tracker: { kind: "standard", secret_file: secretFile } },
    }),
    { mode: 0o600 },
  );
}

const get = (path: string, accept = "application/json") =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, accept }, signal: streaming.signal });

async function follow(): Promise<void> {
  const { body } = await get("/api/events", "text/event-stream");
  for await (const piece of body ?? []) live += Buffer.from(piece as Uint8Array).toString();
}

async function post(path: string, body: object): Promise<{ readonly run?: { readonly id: string } }> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "if-match": "*" },
    body: JSON.stringify(body),
  });
  expect([path, response.status < 300]).toEqual([path, true]);
  return (await response.json()) as { readonly run?: { readonly id: string } };
}

async function gate(stage: string): Promise<string> {
  return until(
    `the gate ${stage}`,
    async () => {
      const { items } = (await (await get("/api/inbox")).json()) as { items: { id: string; stage: string }[] };
      return items.find((item) => item.stage === stage)?.id;
    },
    2 * WAIT_MS,
    100,
  );
}

async function walk(): Promise<void> {
  const started = await post("/api/runs", { flow: "feature", title: "Leak nothing", body: "All of it." });
  run = started.run?.id ?? "";
  await post(`/api/inbox/${await gate("start")}/answer`, { answer: "approve" });
  await gate("ship");
}

test("R-X-13: the run was sent back once and waits, and what was taken out left its marks", async () => {
  expect(await (await get(`/api/runs/${run}`)).text()).toContain('"review"');
  const events = await (await get(`/api/runs/${run}/events`)).text();
  for (const mark of ["[REDACTED:admin_password", "[REDACTED:service_token", "[REDACTED:github_token"])
    expect(events).toContain(mark);
  expect(events).toContain('"revise"');
});

test("R-X-13: no secret is in any answer of the API, whichever route is asked", async () => {
  const params = { run, stage: "build", attempt: "1", item: `${run}.1`, flow: "feature", file: "prompt" };
  const more = {
    ticket: "AGI-1",
    story: "S-1",
    name: "feature",
    agent: "IN1",
    check: "test",
    delivery: "msg_0",
    key: "k0",
  };
  const asked = Object.values(ROUTES).filter(
    (route: ApiRoute) => route.method === "get" && route.path !== "/api/events",
  );
  const statuses: number[] = [];
  for (const route of asked) {
    const found = await get(pathOf((route as ApiRoute).path, { ...params, ...more }), "application/json");
    const text = found.headers.get("content-type")?.includes("event-stream") === true ? "" : await found.text();
    if (text === "") await found.body?.cancel().catch(() => undefined);
    statuses.push(found.status);
    expect([route.path, leaksIn(text, { token })]).toEqual([route.path, []]);
  }
  for (const file of ["prompt", "output", "diff", "events"]) {
    const text = await (await get(`/api/runs/${run}/attempts/build/1/${file}`)).text();
    expect([file, leaksIn(text, { token })]).toEqual([file, []]);
  }
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(15);
});

test("R-X-13: no secret is in the live stream, in a notice, or in what commands print", async () => {
  await post(`/api/inbox/${await gate("ship")}/answer`, { answer: "approve" });
  await until("the end is announced", () => (live.includes("run.completed") ? true : undefined), WAIT_MS, 100);
  await until("notices of both gates and the end", () => (notices.length >= 3 ? true : undefined), WAIT_MS, 100);
  expect(live).toContain("stage.finished");
  expect(leaksIn(live, { token })).toEqual([]);
  expect(leaksIn(notices.join("\n"), { token })).toEqual([]);
  const commands = [
    ["runs", "show", "1"],
    ["runs", "events", "1", "--json"],
    ["runs", "logs", "1", "--stage", "build#1"],
    ["runs", "show", "1", "--attempt", "build#2", "--prompt"],
    ["settings"],
  ];
  for (const command of commands) {
    const { out, err, code } = await bench.passrail(command, { env: { ADMIN_PASSWORD: SECRETS.environment } });
    expect([command.join(" "), code, leaksIn(out + err, { token })]).toEqual([command.join(" "), 0, []]);
  }
});

test("R-X-13: no secret is in the database, a prompt, a log, or any other file that Passrail keeps", () => {
  const files = readdirSync(bench.home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/\/(?:worktrees|clones)(?:\/|$)/u.test(entry.parentPath),
  );
  const names = files.map(({ name }) => name);
  for (const expected of ["passrail.db", "prompt.md", "output.log", "daemon.log", "deliveries.jsonl"])
    expect(names).toContain(expected);
  const leaks = files.flatMap(({ parentPath, name }) => {
    const own: Record<string, string> = name === "operator.token" ? {} : { token };
    const found = leaksIn(readFileSync(join(parentPath, name), "latin1"), own);
    return found.map((secret) => `${join(parentPath, name).slice(bench.home.length)}: ${secret}`);
  });
  expect(leaks).toEqual([]);
  expect(leaksIn(files.map(({ parentPath, name }) => join(parentPath, name)).join("\n"))).toEqual([]);
  expect(leaksIn(daemon.err())).toEqual([]);
});

test("R-X-13: a secret in a person's own task is named before the run starts, without repeating it", async () => {
  const { err } = await bench.passrail(["run", "feature", `Log in with ghp_${"z9".repeat(18)}`, "--detach"]);
  const line = err.split("\n").find((each) => each.includes("contains a secret")) ?? "";
  expect(line).toContain("(github_token)");
  expect(line).not.toContain("z9z9");
});
