// The record of who did what: complete for acts and refusals, free of tokens, bounded whatever a stranger sends, and proof against edits.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { TOKEN_PREFIX } from "../../../src/http/contract/scopes.ts";
import { settingsNote } from "../../../src/http/server/audit-request.ts";
import { type Audit, type AuditNote, createAudit, verifyAudit } from "../../../src/http/server/audit.ts";
import type { Listening } from "../../../src/http/server/listen.ts";
import { type Served, serve } from "./served.ts";
import { optional } from "../../../src/core/optional.ts";

let served: Served;
let audit: Audit;
let socket: Listening;
beforeAll(async () => {
  served = await serve();
  if (served.deps.audit === undefined) throw new Error("the server keeps no record");
  audit = served.deps.audit;
  socket = await served.listen();
});
afterAll(async () => {
  await socket.close(0);
  await served.close();
});

type Entry = Record<string, unknown>;
const entries = async (query = "") =>
  (await served.call("GET", `/api/audit?limit=200${query}`)).body["entries"] as Entry[];

test("S26: failures, acts, refused decisions and key changes are recorded with who, when and from where", async () => {
  const run = await served.bench.run("feature", {});
  const viewer = await served.keys.create({ name: "wall", kind: "viewer" });
  await served.call("GET", "/api/health", { token: null });
  await served.call("GET", "/api/health", { token: `${TOKEN_PREFIX.operator}${"b".repeat(43)}` });
  await served.call("POST", `/api/inbox/${run.id}.1/answer`, { body: { answer: "approve" }, token: viewer.token });
  await served.call("POST", `/api/inbox/${run.id}.1/answer`, { body: { answer: "approve" } });
  const headers = { "if-match": "*" };
  await served.call("POST", `/api/inbox/${run.id}.1/answer`, { body: { answer: "reject", text: "no" }, headers });
  const made = await served.call("POST", "/api/keys", { body: { name: "ci", kind: "operator" } });
  await served.call("DELETE", `/api/keys/${String(made.body["id"])}`);
  await served.call("GET", "/api/runs", { headers: { origin: "http://evil.example" } });
  const [opening, ...all] = (await entries()).toReversed();
  expect(opening).toMatchObject({ type: "settings.loaded", who: "human:tester" });
  expect(all.map(({ type, principal, what, status, code }) => [type, principal, what, status, code])).toEqual([
    ["auth.failed", null, "GET /api/health", 401, "auth_required"],
    ["auth.failed", null, "GET /api/health", 401, "auth_invalid"],
    ["request.refused", viewer.id, `POST /api/inbox/${run.id}.1/answer`, 403, "scope_missing"],
    ["request.refused", "operator", `POST /api/inbox/${run.id}.1/answer`, 428, "version_required"],
    ["request.made", "operator", `POST /api/inbox/${run.id}.1/answer`, 200, null],
    ["request.made", "operator", "POST /api/keys", 201, null],
    ["request.made", "operator", `DELETE /api/keys/${String(made.body["id"])}`, 200, null],
    ["request.refused", null, "GET /api/runs", 403, "origin_not_allowed"],
  ]);
  expect(all[4]).toMatchObject({ who: "human:tester", from: "this process", leftOut: 0 });
  expect(Date.parse(String(all[4]?.["at"]))).toBeGreaterThan(Date.now() - 60_000);
  // The decision itself, with who made it, is an event of its run.
  const events = await served.bench.events(run.id);
  expect(events.find(({ type }) => type === "gate.answered")).toMatchObject({
    actor: "human:tester",
    answer: "decline",
  });
});

test("over a socket the address and the program are told; looking is recorded once an hour", async () => {
  const headers = { authorization: `Bearer ${served.operator}`, "user-agent": "curl/9 \u0001" };
  for (let count = 0; count < 5; count++)
    await fetch(`${socket.url}/api/health`, { headers: { ...headers, "user-agent": "curl/9" } });
  const used = await entries("&type=token.used");
  expect(used.filter(({ from }) => from === "127.0.0.1 curl/9")).toHaveLength(1);
});

test("S03, S26: who comes from a foreign page is recorded, also where the app never sees it", async () => {
  await fetch(`${socket.url}/api/runs?x=1`, { headers: { origin: "http://evil.example", "user-agent": "browser" } });
  const [newest] = await entries("&type=request.refused");
  expect(newest).toMatchObject({
    principal: null,
    from: "127.0.0.1 browser",
    what: "GET /api/runs",
    status: 403,
    code: "origin_not_allowed",
  });
});

test("S26: the settings that a daemon begins with leave a mark that changes with them", () => {
  const { config } = served.deps;
  const note = settingsNote(config, "human:tester", "1.0.0");
  expect(settingsNote({ ...config }, "human:tester", "1.0.0")).toEqual(note);
  const other = settingsNote({ ...config, slots: { value: 9, from: "flag" } }, "human:tester", "1.0.0");
  expect(other.what).not.toBe(note.what);
  audit.record(note);
  expect(audit.list({ limit: 1 })).toMatchObject([{ type: "settings.loaded", who: "human:tester" }]);
});

test("S26: no token gets into the record, wherever it was sent", async () => {
  const secret = `${TOKEN_PREFIX.operator}${"Z".repeat(43)}`;
  await served.call("POST", `/api/keys/${secret}`, { token: secret, headers: { "user-agent": `x ${secret}` } });
  await served.call("DELETE", `/api/keys/${secret}`, { headers: { "user-agent": secret } });
  await served.call("POST", `/api/runs?token=${secret}`, { body: { token: secret } });
  const made = await served.call("POST", "/api/keys", { body: { name: "x", kind: "viewer" } });
  audit.flush();
  const text = readFileSync(join(served.bench.home, "audit.jsonl"), "utf8");
  expect(text).toContain("[token]");
  for (const token of [secret, served.operator, String(made.body["token"])]) expect(text).not.toContain(token.slice(6));
  expect(statSync(join(served.bench.home, "audit.jsonl")).mode & 0o777).toBe(0o600);
});

test("it is the operators' to read, page by page", async () => {
  const first = await served.call("GET", "/api/audit?limit=3");
  const [newest, , third] = first.body["entries"] as { seq: number }[];
  expect(first.body["next"]).toBe(third?.seq);
  const second = await served.call("GET", `/api/audit?limit=3&before=${String(first.body["next"])}`);
  expect((second.body["entries"] as { seq: number }[])[0]?.seq).toBe((newest?.seq ?? 0) - 3);
  expect(await served.call("GET", "/api/audit?type=nothing")).toMatchObject({ status: 400 });
});

let folder: string;
let clock: number;
const note: AuditNote = {
  type: "request.made",
  principal: "operator",
  who: "human:me",
  from: "127.0.0.1",
  what: "POST /api/runs",
  status: 201,
  code: null,
  requestId: "1",
};
const open = (maxBytes?: number) =>
  createAudit(folder, {
    now: () => new Date(clock).toISOString(),
    onProblem: (text) => {
      throw new Error(text);
    },
    ...optional({ maxBytes }),
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "passrail-audit-"));
  clock = Date.parse("2026-01-01T00:00:00Z");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("S26: an edit of one line is found at exactly that line, also at the last, and so is a line that is gone", () => {
  const kept = open();
  for (let count = 0; count < 20; count++) kept.record({ ...note, what: `POST /api/runs/${count}` });
  kept.close();
  expect(verifyAudit(folder)).toEqual([]);
  const file = join(folder, "audit.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  const edit = (change: (copy: string[]) => void) => {
    const copy = [...lines];
    change(copy);
    writeFileSync(file, copy.join("\n"));
    return verifyAudit(folder).map(({ seq }) => seq);
  };
  expect(edit((copy) => (copy[6] = (copy[6] ?? "").replace("human:me", "human:you")))).toEqual([7]);
  expect(edit((copy) => (copy[19] = (copy[19] ?? "").replace("201", "403")))).toEqual([20]);
  expect(edit((copy) => copy.splice(9, 1))).toEqual([11]);
  expect(edit((copy) => (copy[3] = "{"))).toEqual([null, 5]);
});

test("S26: who only fails cannot fill the record, nor push out what others did", () => {
  const kept = open();
  kept.record(note);
  for (let minute = 0; minute < 60; minute++) {
    for (let count = 0; count < 500; count++) kept.record({ ...note, type: "auth.failed", status: 401 });
    clock += 60_000;
  }
  kept.record(note);
  const all = kept.list({ limit: 1000 });
  expect(all.length).toBeLessThan(130);
  expect(all.filter(({ type }) => type === "request.made")).toHaveLength(2);
  const failures = all.filter(({ type }) => type === "auth.failed");
  expect(failures.reduce((sum, { leftOut }) => sum + leftOut + 1, 0)).toBeGreaterThan(29_000);
  kept.close();
});

test("it stays within its size, goes on after a restart, and two processes share it", () => {
  const [one, other] = [open(50_000), open(50_000)];
  for (let count = 0; count < 400; count++) {
    (count % 2 === 0 ? one : other).record({ ...note, what: `POST /${"x".repeat(300)}` });
    (count % 2 === 0 ? one : other).flush();
  }
  one.close();
  other.close();
  expect(statSync(join(folder, "audit.jsonl")).size).toBeLessThan(51_000);
  expect(verifyAudit(folder)).toEqual([]);
  const again = open(50_000);
  again.record(note);
  expect(again.list({ limit: 1 })).toMatchObject([{ seq: 401, what: "POST /api/runs" }]);
  again.close();
});
