// Inbound webhooks from the bytes on a socket to the run: what counts, what does not, and what stays when it does not.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { type Listening, listen } from "../../../src/http/server/listen.ts";
import {
  changed,
  GITHUB_SECRET,
  gitHub,
  OLD_SECRET,
  SECRET,
  type Sent,
  standard,
} from "../../../src/http/webhooks/signing.testsuite.ts";
import { type Inbound, type InboundOptions, openInbound } from "../../../src/http/webhooks/open.ts";
import type { Notice } from "../../../src/notify/notify.ts";
import { until } from "../../harness/until.ts";
import { sendRaw } from "./raw-socket.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
let inbound: Inbound;
let socket: Listening;
const told: Notice[] = [];
const problems: string[] = [];
/** Sources that the operator has removed from the settings. */
const removed = new Set<string>();

beforeAll(async () => {
  served = await serve();
  served.play({});
  for (const [name, text, mode] of [
    ["rotated", OLD_SECRET, 0o600],
    ["tracker", `${SECRET}\n${OLD_SECRET}\n`, 0o600],
    ["github", GITHUB_SECRET, 0o600],
    ["exposed", SECRET, 0o644],
  ] as const)
    writeFileSync(join(served.bench.dir, name), text, { mode });
  inbound = openInbound(options());
  socket = await listen((rules) => createApp(served.deps, { ...rules, signed: inbound.signed }), { port: 0 });
});

function options(): InboundOptions {
  const file = (name: string) => join(served.bench.dir, name);
  const secret_file = file("tracker");
  const webhooks: InboundOptions["config"]["webhooks"] = {
    rotated: { kind: "standard", secret_file: file("rotated"), rights: "operator" },
    tracker: { kind: "standard", secret_file, rights: "operator", flow: "feature" },
    asking: { kind: "standard", secret_file },
    github: { kind: "github", secret_file: file("github"), rights: "operator", flow: "feature", label: "passrail" },
    strangers: { kind: "standard", secret_file, flow: "intake", authors: ["Ann"] },
    early: {
      kind: "standard",
      secret_file,
      rights: "operator",
      rules: [{ on: "merged", do: "done", stages: ["ship"], subject: "data.id", else: "cancel" }],
    },
    script: { kind: "token", rights: "operator" },
    exposed: { kind: "standard", secret_file: file("exposed") },
    unset: { kind: "standard", secret_env: "NO_SUCH_SECRET" },
  };
  return {
    config: { webhooks },
    settings: async () => ({
      webhooks: Object.fromEntries(Object.entries(webhooks).filter(([name]) => !removed.has(name))),
    }),
    environment: {},
    home: served.bench.home,
    deps: served.deps,
    notifier: { notify: async (notice) => told.push(notice) > 0 },
    onProblem: (text) => problems.push(text),
  };
}
afterAll(async () => {
  await socket.close(0);
  inbound.close();
  await served.close();
});

type Answer = { readonly status: number; readonly body: Record<string, unknown> };

async function post(source: string, { headers, rawBody }: Sent): Promise<Answer> {
  const response = await fetch(`${socket.url}/hooks/${source}`, {
    method: "POST",
    headers: [...headers, ["content-type", "application/json"]],
    body: new Uint8Array(rawBody),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

let count = 0;
const newId = (): string => `msg_${++count}`;
const signed = (payload: Json, id = newId()): Sent => standard(JSON.stringify(payload), { id, atMs: Date.now() });
const approve = (feature_id: string, extra: object = {}): Json => ({
  type: "feature.approve",
  data: { feature_id, comment: "go", ...extra },
});
const held: string[] = [];
/** Its first agent works until the test is over. */
const feature = (subject: string) => {
  const hold = join(served.bench.dir, `hold-${subject}`);
  held.push(hold);
  return served.bench.run("feature", { spec: [{ hold }] }, { subject });
};
afterEach(async () => {
  for (const path of held.splice(0)) writeFileSync(path, "");
  await served.bench.passrail.engine.idle();
});
const starts = async (runId: string): Promise<number> =>
  (await served.bench.events(runId)).filter(({ type }) => type === "stage.started").length;
const firstStart = (runId: string) =>
  until("the first agent", async () => ((await starts(runId)) > 0 ? starts(runId) : undefined));

describe("S17, bad input 84: over a socket each wrong delivery gets its code and changes nothing", () => {
  const body = JSON.stringify(approve("bad-1"));
  const good = () => standard(body, { id: newId(), atMs: Date.now() });
  const hook = gitHub("{}", { event: "issues" });
  const minutes = 6 * 60_000;

  test.each<[string, string, () => Sent, number, string]>([
    ["a missing signature", "tracker", () => changed(good(), "webhook-signature", null), 401, "signature_missing"],
    [
      "bad hex",
      "github",
      () => changed(hook, "x-hub-signature-256", `sha256=${"zz".repeat(32)}`),
      401,
      "signature_invalid",
    ],
    ["another algorithm", "tracker", () => changed(good(), "webhook-signature", "v2,AAAA"), 401, "signature_invalid"],
    [
      "a signature of another body",
      "tracker",
      () => ({ ...good(), rawBody: Buffer.from(`${body} `) }),
      401,
      "signature_invalid",
    ],
    [
      "a time in the past",
      "tracker",
      () => standard(body, { atMs: Date.now() - minutes }),
      401,
      "timestamp_out_of_tolerance",
    ],
    [
      "a time to come",
      "tracker",
      () => standard(body, { atMs: Date.now() + minutes }),
      401,
      "timestamp_out_of_tolerance",
    ],
    ["an unknown event", "tracker", () => signed({ type: "nothing.known" }), 202, "ignored_event"],
    ["2 MiB", "tracker", () => standard("x".repeat(2 * 1024 * 1024), { atMs: Date.now() }), 413, "body_too_large"],
    [
      "no JSON under a good signature",
      "tracker",
      () => standard("{", { id: newId(), atMs: Date.now() }),
      400,
      "invalid_json",
    ],
    [
      "R-000-25: no feature in it",
      "tracker",
      () => signed({ type: "feature.approve", data: {} }),
      400,
      "invalid_payload",
    ],
    ["R-000-25: an unknown feature", "tracker", () => signed(approve("F-unknown")), 404, "feature_not_found"],
    ["a source without a secret", "unset", good, 503, "webhook_disabled"],
    ["a source whose secret others can read", "exposed", good, 503, "webhook_disabled"],
    ["a source that is none", "nobody", good, 401, "signature_invalid"],
  ])("%s", async (_, source, sent, status, code) => {
    const before = await served.seq();
    expect(await post(source, sent())).toMatchObject({ status, body: { code } });
    expect(await served.seq()).toBe(before);
  });

  test("a replayed id, the ninth: 200 and no effect", async () => {
    const { id } = await feature("replayed");
    const sent = signed(approve("replayed"));
    expect(await post("tracker", sent)).toMatchObject({ status: 202 });
    await firstStart(id);
    const before = await served.seq();
    expect(await post("tracker", sent)).toMatchObject({ status: 200, body: { code: "duplicate" } });
    expect(await served.seq()).toBe(before);
  });

  test("a body that is announced as huge, or never ends, is not read", async () => {
    const head = `POST /hooks/tracker HTTP/1.1\r\nhost: 127.0.0.1:${socket.port}\r\nconnection: close\r\n`;
    const announced = await sendRaw(socket.port, `${head}content-length: 2097152\r\n\r\n`);
    expect(announced.status).toBe(413);
    const chunk = "x".repeat(64 * 1024);
    const endless = await sendRaw(socket.port, `${head}transfer-encoding: chunked\r\n\r\n`, (write) => {
      const timer = setInterval(() => write(`10000\r\n${chunk}\r\n`), 1);
      return () => clearInterval(timer);
    });
    expect(endless.status).toBe(413);
  });

  test("why a source is disabled is told, and no secret with it", () => {
    expect(problems).toHaveLength(2);
    expect(problems.join("\n")).toMatch(/"exposed" is disabled.*chmod 600/);
    expect(problems.join("\n")).not.toContain(SECRET);
  });
});

describe("approve", () => {
  test("R-000-11: nothing is spawned before the approval, and the webhook's spawns the first agent", async () => {
    const run = await feature("F-11");
    expect(await starts(run.id)).toBe(0);
    const answer = await post("tracker", signed(approve("F-11")));
    expect(answer).toMatchObject({ status: 202, body: { code: "accepted", run: { id: run.id, word: "speccing" } } });
    await firstStart(run.id);
    const gate = (await served.bench.events(run.id)).find(({ type }) => type === "gate.answered");
    expect(gate).toMatchObject({ actor: "human:webhook:tracker", answer: "approve", comment: "go", stage: "start" });
  });

  test("R-000-25: the same delivery twenty times at once, and again after a restart of the door, is one start", async () => {
    const run = await feature("F-25");
    const sent = signed(approve("F-25"));
    const answers = await Promise.all(Array.from({ length: 20 }, () => post("tracker", sent)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([...Array<number>(19).fill(200), 202]);
    await firstStart(run.id);
    const events = await served.bench.events(run.id);
    expect(events.filter(({ type }) => type === "gate.answered")).toHaveLength(1);
    expect(await starts(run.id)).toBe(1);
    const reopened = openInbound(options());
    const app = createApp(served.deps, { port: socket.port, signed: reopened.signed });
    const headers = new Headers([...sent.headers, ["host", `127.0.0.1:${socket.port}`]]);
    const again = await app.request("/hooks/tracker", { method: "POST", headers, body: new Uint8Array(sent.rawBody) });
    reopened.close();
    expect(again.status).toBe(200);
    expect(await starts(run.id)).toBe(1);
  });

  test("a second approval is a no-op, another answer to a closed gate is 409 with the status", async () => {
    const run = await feature("F-23");
    await post("tracker", signed(approve("F-23")));
    await firstStart(run.id);
    const before = await served.seq();
    expect(await post("tracker", signed(approve("F-23")))).toMatchObject({
      status: 200,
      body: { code: "already_done", run: { word: "speccing" } },
    });
    const revise = { type: "review.revise", data: { ticket_id: "F-23", comment: "no" } };
    expect(await post("tracker", signed(revise))).toMatchObject({
      status: 409,
      body: { code: "gate_not_waiting", current: "speccing" },
    });
    expect(await served.seq()).toBe(before);
  });

  test("S17: a source without the right only asks: the gate stays closed, and its owner is told", async () => {
    const run = await feature("F-17");
    const sent = signed(approve("F-17", { comment: "please" }));
    expect(await post("asking", sent)).toMatchObject({ status: 202, body: { code: "requested" } });
    expect(openItems(await served.bench.load(run.id))).toMatchObject([{ kind: "gate", stage: "start" }]);
    expect(await starts(run.id)).toBe(0);
    expect(told.at(-1)).toEqual({
      runId: run.id,
      to: "owner",
      event: "request",
      text: 'F-17: asking asks for "approve" at start: please',
      item: `${run.id}.1`,
    });
  });

  test("a gate that the mapping does not name is not answered by it", async () => {
    const run = await served.bench.run("build-plan-simple", {}, { subject: "BP-1" });
    expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "signoff" }]);
    expect(await post("tracker", signed(approve("BP-1")))).toMatchObject({ status: 409 });
    expect(openItems(await served.bench.load(run.id))).toHaveLength(1);
  });

  test("a delivery about another commit than the branch is at is refused", async () => {
    const run = await feature("F-12");
    served.commit = "a".repeat(40);
    const about = (commit: string) => signed(approve("F-12", { commit }));
    expect(await post("tracker", about("b".repeat(40)))).toMatchObject({
      status: 412,
      body: { code: "version_mismatch" },
    });
    expect(await post("tracker", about("a".repeat(40)))).toMatchObject({ status: 202 });
    served.commit = null;
    const answered = (await served.bench.events(run.id)).find(({ type }) => type === "gate.answered");
    expect(answered).toMatchObject({ commit: "a".repeat(40) });
  });

  test("S17: a secret is rotated and revoked without a restart: both count meanwhile, and a revoked one counts no longer", async () => {
    const file = join(served.bench.dir, "rotated");
    const keep = (...secrets: readonly string[]): void =>
      writeFileSync(file, `${secrets.join("\n")}\n`, { mode: 0o600 });
    const outcome = async (secret: string) => {
      const body = JSON.stringify(approve("F-none"));
      const sent = standard(body, { id: newId(), atMs: Date.now(), secrets: [secret] });
      return (await post("rotated", sent)).status;
    };
    keep(OLD_SECRET);
    expect([await outcome(OLD_SECRET), await outcome(SECRET)]).toEqual([404, 401]);
    keep(SECRET, OLD_SECRET);
    expect([await outcome(OLD_SECRET), await outcome(SECRET)]).toEqual([404, 404]);
    keep(SECRET);
    expect([await outcome(OLD_SECRET), await outcome(SECRET)]).toEqual([401, 404]);
    removed.add("rotated");
    expect(await outcome(SECRET)).toBe(401);
    removed.delete("rotated");
    writeFileSync(file, "");
    expect(await outcome(SECRET)).toBe(503);
  });

  test("a delivery is good under the old secret while it is replaced", async () => {
    await feature("F-old");
    const sent = standard(JSON.stringify(approve("F-old")), { id: newId(), atMs: Date.now(), secrets: [OLD_SECRET] });
    expect(await post("tracker", sent)).toMatchObject({ status: 202 });
  });
});

test("R-000-25: a sender that holds a key of the source need not sign, but has to name its delivery", async () => {
  const run = await feature("F-key");
  const { token } = await served.keys.create({ name: "script", kind: "webhook" });
  const { token: other } = await served.keys.create({ name: "tracker", kind: "webhook" });
  const send = (authorization: string | null, id: string | null, source = "script") => {
    const headers = new Headers();
    if (authorization !== null) headers.set("authorization", authorization);
    if (id !== null) headers.set("webhook-id", id);
    return post(source, { headers, rawBody: Buffer.from(JSON.stringify(approve("F-key"))) });
  };
  expect(await send(null, "k1")).toMatchObject({ status: 401, body: { code: "auth_required" } });
  for (const wrong of [other, served.operator, `${token}x`, ""])
    expect(await send(`Bearer ${wrong}`, "k1")).toMatchObject({ status: 401, body: { code: "auth_invalid" } });
  expect(await send(`Bearer ${token}`, null)).toMatchObject({ status: 400, body: { code: "invalid_delivery_id" } });
  expect(await send(`Bearer ${token}`, "k1", "tracker")).toMatchObject({ status: 401 });
  expect(await starts(run.id)).toBe(0);
  expect(await send(`Bearer ${token}`, "k1")).toMatchObject({ status: 202 });
  expect(await send(`Bearer ${token}`, "k1")).toMatchObject({ status: 200, body: { code: "duplicate" } });
  await firstStart(run.id);
  // What the key opens is this door and no other.
  expect((await served.call("GET", "/api/runs", { token })).status).toBe(403);
});

describe("tickets", () => {
  const issue = (number: number, extra: object = {}) => ({
    action: "labeled",
    label: { name: "passrail" },
    issue: {
      number,
      title: "Fix login",
      body: "$(id) {{SECRET}} \u202e<!-- hidden -->",
      user: { login: "stranger" },
      html_url: `https://github.com/o/r/issues/${number}`,
      ...extra,
    },
    sender: { login: "maintainer" },
  });
  const labeled = (number: number, id: string) =>
    gitHub(JSON.stringify(issue(number)), { event: "issues", id: `${id}-${number}` });

  test("S08: an issue with the label becomes a run behind its start gate, its text as it was written", async () => {
    const answer = await post("github", labeled(12, "a"));
    expect(answer).toMatchObject({
      status: 202,
      body: { code: "accepted", run: { status: "waiting", word: "pending" } },
    });
    const { id } = answer.body["run"] as { id: string };
    const run = await served.bench.load(id);
    expect(run.subject).toEqual({ id: "GH-12", title: "Fix login", body: issue(12).issue.body });
    expect(run.facts["webhook"]).toEqual({
      source: "github",
      author: "stranger",
      origin: "https://github.com/o/r/issues/12",
    });
    expect(await starts(id)).toBe(0);
  });

  test("the same issue labelled again is the same run", async () => {
    const body = JSON.stringify({ ...issue(13), extra: "another body" });
    const [one, two] = [
      await post("github", labeled(13, "b")),
      await post("github", gitHub(body, { event: "issues", id: "c-13" })),
    ];
    expect(two).toMatchObject({ status: 200, body: { code: "already_done", run: one.body["run"] } });
  });

  test("S08: into a flow without a gate in front only authors on the list come", async () => {
    const ticket = (author: string) => ({ type: "ticket.create", data: { title: "Plan", body: "All", author } });
    const before = await served.seq();
    expect(await post("strangers", signed(ticket("eve")))).toMatchObject({
      status: 202,
      body: { code: "ignored_event" },
    });
    expect(await served.seq()).toBe(before);
    expect(await post("strangers", signed(ticket("ann")))).toMatchObject({ status: 202, body: { code: "accepted" } });
  });
});

describe("a pull request", () => {
  const pull = (subject: string, extra: object = {}) => ({
    head: { ref: `feat/${subject}-login`, sha: "c".repeat(40), repo: { full_name: "o/r" } },
    html_url: "https://github.com/o/r/pull/3",
    ...extra,
  });
  const repository = { full_name: "o/r" };
  const atShip = async (subject: string) => {
    const script = {
      spec: [{ verdict: "APPROVED" }],
      design: [{ verdict: "APPROVED" }],
      build: [{ verdict: "COMPLETE" }],
      qa: [{ verdict: "SHIP" }],
    };
    const run = await served.bench.run("feature", script, { subject });
    await served.bench.answer(run, "gate", "approve");
    const now = await served.bench.load(run.id);
    expect(openItems(now)).toMatchObject([{ kind: "gate", stage: "ship" }]);
    return now;
  };

  test("that was merged ends the run at its last gate", async () => {
    const run = await atShip("AGI-1");
    const merged = { action: "closed", pull_request: pull("AGI-1", { merged: true }), repository };
    const answer = await post("github", gitHub(JSON.stringify(merged), { event: "pull_request", id: "merged-1" }));
    expect(answer).toMatchObject({ status: 202, body: { run: { id: run.id, status: "completed", word: "shipped" } } });
  });

  test("with a review that asks for changes sends the work back with its words", async () => {
    const run = await atShip("AGI-2");
    const review = { state: "changes_requested", author_association: "MEMBER", body: "Use a transaction." };
    const payload = { action: "submitted", review, pull_request: pull("AGI-2"), repository };
    const sent = gitHub(JSON.stringify(payload), { event: "pull_request_review", id: "review-2" });
    expect(await post("github", sent)).toMatchObject({ status: 202, body: { run: { id: run.id } } });
    const answered = (await served.bench.events(run.id)).findLast(({ type }) => type === "gate.answered");
    expect(answered).toMatchObject({ stage: "ship", answer: "revise", comment: "Use a transaction." });
  });

  test("that was merged before its gate was reached is 409, or cancels where the mapping says so", async () => {
    const run = await feature("AGI-3");
    const merged = { action: "closed", pull_request: pull("AGI-3", { merged: true }), repository };
    const answer = await post("github", gitHub(JSON.stringify(merged), { event: "pull_request", id: "merged-3" }));
    expect(answer).toMatchObject({ status: 409, body: { code: "gate_not_waiting" } });
    expect(await post("early", signed({ type: "merged", data: { id: "AGI-3" } }))).toMatchObject({
      status: 202,
      body: { run: { id: run.id, status: "canceled" } },
    });
  });
});

test("a source is carried out only so often in a minute, and what was refused may come again", async () => {
  const { createInbound } = await import("../../../src/http/webhooks/inbound.ts");
  const { createMemoryReplays } = await import("../../harness/memory-replays.ts");
  const { standardSource } = await import("../../../src/http/webhooks/source.ts");
  let time = Date.now();
  const signedRoutes = createInbound({
    ...served.deps,
    now: () => new Date(time).toISOString(),
    sourceOf: async () => standardSource({ name: "fast", secrets: [SECRET], rights: "operator" }),
    replays: createMemoryReplays({ now: () => time }),
    notify: async () => undefined,
    maxPerMinute: 2,
  });
  const app = createApp(served.deps, { port: 4321, signed: signedRoutes });
  const send = async (id: string) => {
    const { headers, rawBody } = standard(JSON.stringify(approve("F-unknown")), { id, atMs: time });
    headers.set("host", "127.0.0.1:4321");
    return (await app.request("/hooks/fast", { method: "POST", headers, body: new Uint8Array(rawBody) })).status;
  };
  expect([await send("r1"), await send("r2"), await send("r3")]).toEqual([404, 404, 429]);
  time += 61_000;
  expect(await send("r3")).toBe(404);
});

test("only digests of ids are on the disk, in a file of the owner's", async () => {
  const { readFileSync, statSync } = await import("node:fs");
  const path = join(served.bench.home, "webhook-ids");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, "utf8");
  expect(text).not.toContain("msg_");
  expect(text).toContain(createHash("sha256").update("github\nmerged-1").digest("base64url"));
});
