// What a person sees before deciding, says with the decision, and is told after somebody else was faster.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { createCommitOf } from "../../../src/app/commit-of.ts";
import { wholeDiff } from "../../../src/git/whole-diff.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
  const say = (verdict: string) => [{ via: "json-tail", verdict }];
  served.play({ spec: say("APPROVED"), design: say("APPROVED"), build: say("COMPLETE"), qa: say("SHIP") });
});
afterEach(() => served.close());

async function start(): Promise<string> {
  const { body } = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Do it" } });
  return ROUTES.startRun.answer.schema.parse(body).run.id;
}

const waiting = (runId: string, stage: string) =>
  until(`${stage} waits`, async () => {
    const { items } = ROUTES.listInbox.answer.schema.parse((await served.call("GET", "/api/inbox")).body);
    return items.find((item) => item.runId === runId && item.stage === stage);
  });

const answer = (id: string, body: object, version = "*") =>
  served.call("POST", `/api/inbox/${id}/answer`, {
    body,
    headers: { "if-match": version === "*" ? "*" : `"${version}"` },
  });

const promptOf = async (runId: string, stage: string, attempt: number) =>
  String((await served.call("GET", `/api/runs/${runId}/attempts/${stage}/${attempt}/prompt`)).body["text"]);

test("R-000-07, R-000-08: comments on lines reach the next attempt's prompt word by word and in order", async () => {
  const run = await start();
  const first = await waiting(run, "start");
  await answer(first.id, { answer: "approve" });
  const ship = await waiting(run, "ship");
  expect(ship).toMatchObject({ runNumber: 1, word: "review", said: { stage: "qa", word: "SHIP" } });
  expect(ship.leads.map(({ answer: word, to, who }) => [word, to, who])).toEqual([
    ["approve", "end", ""],
    ["revise", "build", "IN2"],
    ["decline", "cancel", ""],
  ]);
  const issues = [
    { severity: "major", description: "Validate `state` before use.", file: "src/auth.ts", line: 42 },
    { description: "Too long", file: "src/auth.ts" },
    { description: "No tests\nfor the second case" },
    {
      severity: "minor",
      description: "Shorter",
      file: "src/auth.ts",
      line: 7,
      endLine: 9,
      suggestion: "  if (!ok)\n\treturn `${id}`;  \n```\n",
    },
    { description: "Not needed", file: "src/auth.ts", line: 3, suggestion: "" },
  ];
  // Comments are a reason; no other words are needed.
  const sent = await answer(ship.id, { answer: "revise", issues }, ship.version);
  expect(sent).toMatchObject({ status: 200, body: { answer: "revise", run: { status: "running" } } });
  await until("it waits again", async () => {
    const { items } = (await served.call("GET", "/api/inbox")).body as { items: { id: string; runId: string }[] };
    return items.find((item) => item.runId === run && item.id !== ship.id);
  });
  expect(await promptOf(run, "build", 1)).not.toContain("src/auth.ts");
  const prompt = await promptOf(run, "build", 2);
  const lines = [
    "- [major] Validate `state` before use. (src/auth.ts:42)",
    "- Too long (src/auth.ts)",
    "- No tests\nfor the second case",
    "- [minor] Shorter (src/auth.ts:7-9)\nSuggested text in place of lines 7-9:\n````suggestion\n  if (!ok)\n\treturn `${id}`;  \n```\n\n````",
    "- Not needed (src/auth.ts:3)\nRemove line 3:\n```suggestion\n```",
  ];
  expect(prompt).toContain(
    `Issues to resolve, as they were reported:\n\`\`\`\`\`text\n${lines.join("\n")}\n\`\`\`\`\``,
  );
  const told = (await served.bench.events(run)).find((event) => event.type === "gate.answered" && event.number === 2);
  expect(told).toMatchObject({ answer: "revise", comment: "", issues });
  expect(served.problems).toEqual([]);
});

test("findings are bounded, and only where there is work to send back", async () => {
  const run = await start();
  const { id } = await waiting(run, "start");
  const many = Array.from({ length: 101 }, () => ({ description: "x" }));
  for (const issues of [
    many,
    [{ description: "x".repeat(2001) }],
    [{ description: "  " }],
    [{ file: "a" }],
    [{ description: "x", line: 0 }],
    [{ description: "x", author: "me" }],
    [{ description: "x", file: "a", line: 5, endLine: 4 }],
    [{ description: "x", file: "a", endLine: 4 }],
    [{ description: "x", suggestion: "y" }],
    [{ description: "x", file: "a", line: 5, suggestion: "y".repeat(10_001) }],
    ["only words"],
    "none",
  ])
    expect((await answer(id, { answer: "decline", issues })).status).toBe(422);
  expect((await answer(id, { answer: "decline", issues: [] })).body).toMatchObject({ code: "reason_required" });
  expect((await served.call("GET", `/api/inbox/${id}`)).status).toBe(200);
});

test("R-X-07: the second one to decide is told who was first, with what and when; so is whoever looks later", async () => {
  const run = await start();
  const { id, version } = await waiting(run, "start");
  const said = { answer: "decline", text: "not this year" };
  expect((await answer(id, said, version)).status).toBe(200);
  const decided = { answer: "decline", text: "not this year", by: "human:tester", at: expect.any(String) };
  expect(await answer(id, { answer: "approve" }, version)).toMatchObject({
    status: 409,
    body: { code: "gate_not_waiting", decided },
  });
  expect(await served.call("GET", `/api/inbox/${id}`)).toMatchObject({ status: 409, body: { decided } });

  const list = (since: string) => served.call("GET", `/api/decisions?since=${encodeURIComponent(since)}`);
  const { body } = await list("2020-01-01T00:00:00Z");
  expect(ROUTES.listDecisions.answer.schema.parse(body)).toMatchObject({
    isWhole: true,
    decisions: [{ id, kind: "gate", stage: "start", subject: { title: "Do it" }, ...decided }],
  });
  expect((await list("2999-01-01T00:00:00Z")).body).toEqual({ decisions: [], isWhole: true });
  expect((await list("yesterday")).status).toBe(400);
});

test("the diff of a run holds what was committed before and after it was sent back", async () => {
  const commitOf = createCommitOf(served.deps.store);
  const app = served.useCases({ commitOf });
  served.app = createApp(
    {
      ...served.deps,
      wholeDiff: (run, from, to, shape) => wholeDiff(run, from, to, (text) => text, shape),
      commitOf,
      app,
    },
    { port: 4321 },
  );
  const say = (verdict: string) => [{ via: "json-tail", verdict }];
  const build = (rewrite: Readonly<Record<string, string>>) => [
    { via: "json-tail", verdict: "COMPLETE", rewrite, commit: true },
  ];
  const text = (last: string) => `${Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("")}${last}\n`;
  served.play({
    spec: say("APPROVED"),
    design: say("APPROVED"),
    "build#1": build({ "one.txt": text("end") }),
    "build#2": build({ "one.txt": text("  end"), "two.txt": "x\n" }),
    qa: say("SHIP"),
  });
  const run = await start();
  const diff = async (of: string, limit = 9999, more = "") => {
    const { body } = await served.call("GET", `/api/runs/${run}/diff?of=${of}&limit=${limit}${more}`);
    return ROUTES.runDiff.answer.schema.parse(body);
  };
  expect(await diff("run")).toMatchObject({ size: 0, commits: null, files: [] });
  await answer((await waiting(run, "start")).id, { answer: "approve" });
  const first = await waiting(run, "ship");
  await answer(first.id, { answer: "revise", text: "more" });
  const second = await until("it waits again", async () => {
    const again = await waiting(run, "ship");
    return again.id === first.id ? undefined : again;
  });
  const names = ({ files }: Awaited<ReturnType<typeof diff>>) => files.map(({ path }) => path);
  expect(names(await diff("last"))).toEqual(["one.txt", "two.txt"]);
  const whole = await diff("run");
  expect(names(whole)).toEqual(["one.txt", "two.txt"]);
  expect(whole).toMatchObject({ added: 22, removed: 0, isCut: false, commits: { to: second.commit } });
  expect(await diff("run", 10)).toMatchObject({ isCut: true, size: whole.size, text: whole.text.slice(0, 10) });

  // Since this person's last decision; white space counts or does not; and one file with more around its changes.
  const since = await diff("review");
  expect(since).toMatchObject({
    reviewed: { commit: first.commit },
    commits: { from: first.commit, to: second.commit },
  });
  expect([names(since), since.added, since.removed]).toEqual([["one.txt", "two.txt"], 2, 1]);
  expect(names(await diff("review", 9999, "&spaces=ignored"))).toEqual(["two.txt"]);
  const one = await diff("review", 9999, "&path=one.txt&context=1000");
  expect([names(one), one.text.includes(" line 0\n"), since.text.includes("line 0\n")]).toEqual([
    ["one.txt"],
    true,
    false,
  ]);
  expect(names(await diff("run", 9999, `&path=${encodeURIComponent(":(glob)*")}`))).toEqual([]);
  // Somebody who has decided nothing sees everything.
  const viewer = await served.call("POST", "/api/keys", { body: { name: "eve", kind: "viewer" } });
  const seen = await served.call("GET", `/api/runs/${run}/diff?of=review`, { token: String(viewer.body["token"]) });
  expect(ROUTES.runDiff.answer.schema.parse(seen.body)).toMatchObject({ reviewed: null, added: 22 });
});

test("a viewed file is viewed by one person, in one version, after a restart as well; a broken record marks nothing", async () => {
  const run = await start();
  const mark = (body: object) => served.call("POST", `/api/runs/${run}/viewed`, { body });
  const viewed = async () => (await served.call("GET", `/api/runs/${run}/diff`)).body["viewed"];
  const file = { path: "src/a b.ts", version: "a".repeat(40) };
  expect((await mark({ ...file, isViewed: true })).body).toEqual({ viewed: [file] });
  const newer = { ...file, version: "b".repeat(40) };
  await mark({ ...newer, isViewed: true });
  await mark({ path: "c", version: "1-x", isViewed: true });
  await mark({ path: "c", version: "1-x", isViewed: false });
  expect(await viewed()).toEqual([newer]);
  for (const body of [{ ...file }, { ...file, isViewed: true, path: "" }, { ...file, isViewed: true, version: "../x" }])
    expect((await mark(body)).status).toBe(422);
  expect(
    (await served.call("POST", "/api/runs/r0000000000/viewed", { body: { ...file, isViewed: true } })).status,
  ).toBe(404);
  const folder = join(served.deps.home, "viewed");
  const [name = ""] = readdirSync(folder);
  writeFileSync(join(folder, name), "{ broken");
  expect(await viewed()).toEqual([]);
});
