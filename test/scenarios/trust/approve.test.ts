// Trust and marked changes over the API, on the real server: an approval is of the version that was shown.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gateLines } from "../../../src/cli/gate-lines.ts";
import { markedWork } from "../../../src/app/marked-work.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { projectOf } from "../../../src/core/run/run-settings.ts";
import { markedSentence } from "../../../src/core/view/marked-changes.ts";
import { type Served, serve } from "../http/served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

const FLOW = "flow: own\nversion: 1\nsubject: task\nallow_ungated: true\nstages:\n  - { id: ship, kind: gate }\n";
const write = (text: string): void => {
  const folder = join(served.bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "own.yaml"), text);
};
const trust = async () => (await served.call("GET", "/api/trust")).body;
const approve = (hash: unknown) => served.call("POST", "/api/trust", { body: { hash } });
const flows = async () =>
  ((await served.call("GET", "/api/flows")).body["flows"] as { name: string }[]).map(({ name }) => name);

test("S10: a new flow waits for the operator; the approved hash is the one that was shown", async () => {
  write(FLOW);
  const seen = await trust();
  expect(seen).toMatchObject({
    state: expect.stringMatching(/^(new|changed)$/) as string,
    effects: expect.arrayContaining([{ change: "added", text: "flow own: a person decides at ship" }]) as unknown,
  });
  write(FLOW.replace("ship", "later"));
  expect(await approve(seen["hash"])).toMatchObject({ status: 409, body: { code: "trust_changed" } });
  const { hash } = await trust();
  expect(await approve(hash)).toMatchObject({ status: 200, body: { state: "approved" } });
  expect(await approve(hash)).toMatchObject({ status: 200, body: { state: "approved" } });
  expect(await flows()).toContain("own");
  served.deps.audit?.flush();
  expect(readFileSync(join(served.bench.home, "audit.jsonl"), "utf8")).toContain(
    `trust: approved ${String(hash).slice(0, 16)}`,
  );
  write(`${FLOW}  - { id: extra, kind: gate }\n`);
  expect(await trust()).toMatchObject({ state: "changed", files: expect.arrayContaining([]) as unknown });
  const shown = await served.call("GET", "/api/flows/own");
  expect(JSON.stringify(shown.body)).not.toContain("extra");
});

test("S10: a gate names changes to CI, Passrail's own files and lockfiles, in the API and for the command line", async () => {
  const files = {
    ".github/workflows/ci.yml": "on: push",
    ".gitmodules": "",
    ".husky/pre-commit": "true",
    "passrail.yaml": "slots: 9",
    "package-lock.json": "{}",
  };
  const run = await served.bench.run("feature", {
    "*": [{ verdict: "APPROVED" }],
    build: [{ verdict: "COMPLETE", write: { ...files, "a.txt": "1" }, commit: true }],
    qa: [{ verdict: "SHIP" }],
  });
  await served.bench.answer(run, "gate", "approve");
  const waiting = await served.bench.load(run.id);
  const [item] = openItems(waiting);
  const { body } = await served.call("GET", `/api/inbox/${run.id}.${item?.number ?? 0}`);
  const { marked } = body["evidence"] as { marked: readonly { path: string; kind: string }[] };
  expect(marked.map(({ path, kind }) => [path, kind])).toEqual([
    ["passrail.yaml", "passrail"],
    [".github/workflows/ci.yml", "ci"],
    [".husky/pre-commit", "hooks"],
    [".gitmodules", "submodule"],
    ["package-lock.json", "lockfile"],
  ]);
  const lines = await gateLines({ home: served.bench.home, environment: {}, cwd: projectOf(waiting) }, waiting);
  expect(lines.join("\n")).toContain("passrail.yaml decides what Passrail runs");
  expect(lines.filter((line) => line.startsWith("  ! "))).toHaveLength(6);
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}! no sandbox: worktree, processes held by [\w ]+ \(spec, design, build, qa\)$/u),
  );
});

test("S10: revoking withdraws the approval that was looked at, once, and says who did it", async () => {
  write(FLOW);
  const { hash } = await trust();
  await approve(hash);
  const revoke = (body: unknown, headers = {}) => served.call("POST", "/api/trust/revoke", { body, headers });
  expect(await revoke({})).toMatchObject({ status: 422 });
  const other = "0".repeat(64);
  expect(await revoke({ hash: other })).toMatchObject({ status: 409, body: { code: "trust_changed" } });
  expect(await trust()).toMatchObject({ state: "approved" });
  const key = { "idempotency-key": "revoke-once" };
  expect(await revoke({ hash }, key)).toMatchObject({ status: 200, body: { state: "new", approved: null } });
  expect(await served.call("POST", "/api/runs", { body: { flow: "own", title: "x" } })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining("are not approved") as string },
  });
  // A repeat of the same request does not undo what a person approved in between.
  await approve(hash);
  expect(await revoke({ hash }, key)).toMatchObject({ status: 200, body: { state: "new" } });
  expect(await trust()).toMatchObject({ state: "approved" });
  expect(await revoke({ hash: other }, key)).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  served.deps.audit?.flush();
  const audit = readFileSync(join(served.bench.home, "audit.jsonl"), "utf8");
  expect(audit.match(new RegExp(`trust: revoked ${String(hash).slice(0, 16)}`, "gu"))).toHaveLength(1);
});

test("S10: only an operator may revoke", async () => {
  write(FLOW);
  const { hash } = await trust();
  await approve(hash);
  const { token } = await served.keys.create({ name: "wall", kind: "viewer" });
  const revoke = (by: string | null) => served.call("POST", "/api/trust/revoke", { body: { hash }, token: by });
  expect(await revoke(token)).toMatchObject({ status: 403 });
  expect(await revoke(null)).toMatchObject({ status: 401 });
  expect(await trust()).toMatchObject({ state: "approved" });
});

test("S10: a gate says so where git cannot list the changes, instead of naming none", async () => {
  const facts = { from: "1".repeat(40), files: ["a.txt"] };
  const marked = await markedWork(served.bench.project, [{ facts }], "2".repeat(40));
  expect(marked.map(({ kind }) => kind)).toEqual(["unknown"]);
  expect(markedSentence(marked[0] as never)).toContain("look at all of them");
});
