// Loose ends over the API: shown with the items, gone when they are settled, and trust only to who may approve.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { happyFeature } from "../cli/bench.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

async function looseEnds(token?: string) {
  const reply = await served.call("GET", "/api/inbox", token === undefined ? {} : { token });
  return ROUTES.listInbox.answer.schema.parse(reply.body).looseEnds;
}

test("the API shows a stopped run, lets it be retried with another agent, and tells only operators of files that wait for trust", async () => {
  const { bench } = served;
  const missing = { command: [join(bench.dir, "no-such-agent")] };
  const run = await bench.run("checklist", {}, { title: "Check it", facts: { runners: { "*": missing } } });
  expect(run.status).toBe("stopped");
  mkdirSync(join(bench.project, ".passrail/agents"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail/agents/new.md"), "---\nname: new\ndescription: n\n---\nHi.\n");
  expect(new Map((await looseEnds()).map(({ kind, title }) => [kind, title]))).toEqual(
    new Map([
      ["stopped", "Check it"],
      ["trust", bench.project],
    ]),
  );
  const viewer = await served.keys.create({ name: "wall", kind: "viewer" });
  expect((await looseEnds(viewer.token)).map(({ kind }) => kind)).toEqual(["stopped"]);

  const retry = (agents: object) => served.call("POST", `/api/runs/${run.id}/retry`, { body: { agents } });
  expect(await retry({ nobody: "claude" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  const other = join(bench.dir, "other-agent");
  expect(await retry({ "*": other })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("other-agent") },
  });
  writeFileSync(other, "#!/bin/sh\necho other-agent gives up\nexit 1\n", { mode: 0o755 });
  expect(await retry({ "*": other })).toMatchObject({ status: 200, body: { changed: true } });
  await bench.passrail.engine.idle();
  const again = (await looseEnds()).find(({ kind }) => kind === "stopped");
  expect(again).toMatchObject({ run: { id: run.id, number: 1 } });
  expect(again?.text).toContain("other-agent");
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: { reason: "enough" } });
  expect((await looseEnds()).map(({ kind }) => kind)).toEqual(["trust"]);
});

/** A feature whose flow does not merge, up to its end. */
async function finished(subject: string, title: string) {
  const { bench } = served;
  const run = await bench.run("feature", happyFeature, { subject, title });
  for (let gates = 0; gates < 2; gates++) await bench.answer(await bench.load(run.id), "gate", "approve");
  served.commit = git("rev-parse", `passrail/${run.id}`);
  return run;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", served.bench.project, ...args], { encoding: "utf8" }).trim();
}

test("finished work is merged over the API by one run, however many people ask; then it is no loose end any more", async () => {
  const { bench } = served;
  const run = await finished("F-1", "Add login");
  expect((await looseEnds()).map(({ kind, verbs }) => [kind, verbs.map(({ act }) => act.do)])).toEqual([
    ["merge", ["show", "merge", "propose", "discard"]],
  ]);
  const ask = () => served.call("POST", `/api/runs/${run.id}/merge`, { body: {} });
  const asked = await Promise.all([ask(), ask(), ask()]);
  // One that comes when the work has landed is refused; none of them starts a second run.
  const runs = new Set(asked.flatMap(({ body }) => (body["run"] as { id: string } | undefined)?.id ?? []));
  expect(asked.filter(({ body }) => body["started"] === true)).toHaveLength(1);
  expect(runs.size).toBe(1);
  await bench.passrail.engine.idle();
  expect((await bench.load([...runs][0] ?? "")).status).toBe("completed");
  git("merge-base", "--is-ancestor", served.commit ?? "", "main");
  expect(await looseEnds()).toEqual([]);
  expect(await ask()).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect((await bench.passrail.store.runsOf("F-1")).length).toBe(2);
});

test("finished work is discarded over the API: the branch goes, its commits stay; a run that waits for no merge is not marked as merged", async () => {
  const run = await finished("F-2", "Add logout");
  const branch = `passrail/${run.id}`;
  const act = (verb: string, body: object = {}) => served.call("POST", `/api/runs/${run.id}/${verb}`, { body });
  expect(await act("merged")).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect(await act("merged", { commit: "--all" })).toMatchObject({ status: 422, body: { code: "invalid_field" } });
  const tip = git("rev-parse", branch);
  expect(await act("discard")).toMatchObject({
    status: 200,
    body: { branch, commit: tip, keptAs: expect.stringMatching(/^refs\/passrail\//u), restore: "passrail undo F-2" },
  });
  expect(git("for-each-ref", `refs/heads/${branch}`)).toBe("");
  expect(git("for-each-ref", "--contains", tip, "refs/passrail")).not.toBe("");
  served.commit = null;
  expect(await act("discard")).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect(await looseEnds()).toEqual([]);
});
