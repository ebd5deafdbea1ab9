// Withdrawn trust: an operator revokes the approval of the project's files while a run is on its way. Before each act outside that is honoured:
// the run waits with a question, and goes on when the files are approved again.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { revokeTrust } from "../../../src/app/trust/trust.ts";
import { lateLanding } from "../../../src/core/run/outward.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { openServerOn } from "../http/served.ts";
import { newRepositories, type Repositories } from "../ticket-land/repositories.ts";
import { slowRemote, type SlowRemote } from "./slow-remote.ts";

let repositories: Repositories;
let remote: SlowRemote;
let bench: Workbench;
afterEach(async () => {
  remote.letGo();
  await bench.close();
  repositories.close();
});

const FLOW = onlyStages("ticket", ["implement", "land"]);
const WORKS = { via: "text", text: "done", write: { "made.txt": "made" }, commit: true };

async function open(merge: Record<string, string | boolean> = {}): Promise<void> {
  repositories = newRepositories({ remote: true });
  remote = slowRemote(repositories);
  const { dir, project } = repositories;
  const environment = { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_GLOBAL: "/dev/null" };
  const settings = () => ({ merge: { poll: "100ms", ...merge } });
  bench = await openWorkbench({ place: { dir, project, environment }, settings });
}

const revoke = (): void => void revokeTrust({ home: bench.home, project: bench.project });
const approve = (): void => approveFiles(bench.home, bench.project);
const main = (): string => repositories.there("rev-parse", "refs/heads/main");
const branches = (): string => repositories.there("for-each-ref", "--format=%(refname)", "refs/heads");
const types = async (run: Run): Promise<readonly string[]> => (await bench.events(run.id)).map(({ type }) => type);

function start(mode: string, implement = {}): Promise<Run> {
  const facts = {
    ticket: { repo: "project", status: "Needs Implement", terminal: true },
    config: { merge_mode: mode },
  };
  return bench.run(FLOW, { implement: [{ ...WORKS, ...implement }] }, { subject: "AGI-7", wait: false, facts });
}

const inState = (run: Run, status: Run["status"]): Promise<Run> =>
  until(`the run is ${status}`, async () => {
    const now = await bench.load(run.id);
    return now.status === status ? now : undefined;
  });

/** A run whose work is done; the approval was withdrawn while its agent worked. */
async function waiting(mode: string): Promise<Run> {
  const gate = join(repositories.dir, "may-end");
  const run = await start(mode, { hold: gate });
  await until("the agent works", async () => ((await types(run)).includes("stage.started") ? true : undefined));
  revoke();
  writeFileSync(gate, "");
  return inState(run, "waiting");
}

test.each([
  { mode: "merge", act: "merge" },
  { mode: "pr", act: "push" },
])(
  "S10, R-X-09: the approval is withdrawn before the $act: nothing leaves, a person is asked, an approval lets it go on",
  async ({ mode, act }) => {
    await open();
    const before = main();
    const run = await waiting(mode);
    expect([main(), branches(), remote.pushes()]).toEqual([before, "refs/heads/main", 0]);
    expect(await types(run)).not.toContain("outward.intended");
    const [item] = openItems(await bench.load(run.id));
    expect(item).toMatchObject({ kind: "question", stage: "land" });
    expect(JSON.stringify(item)).toContain("not approved any more; passrail trust --yes");
    expect(bench.notices).toContainEqual(expect.objectContaining({ runId: run.id, item: `${run.id}.1` }));
    // A person's plain answer does not stand in for the approval.
    await bench.answer(await bench.load(run.id), "question", "", "go on");
    const again = await inState(run, "waiting");
    expect([main(), remote.pushes()]).toEqual([before, 0]);
    approve();
    await until("the work leaves", async () => {
      const events = await bench.events(run.id);
      return events.some((event) => event.type === "outward.seen" && event.verb === act) ? true : undefined;
    });
    const answered = (await bench.events(run.id)).findLast(({ type }) => type === "question.answered");
    expect(answered).toMatchObject({ actor: "human:tester", answer: "The project's files are approved." });
    expect(openItems(again)).toHaveLength(1);
    expect(remote.pushes()).toBe(1);
  },
);

test("S10: after a restart the run still waits for the approval; a question of an agent about it is never answered", async () => {
  await open();
  const asks = "next_status: Needs Human Decision\n  error: the files are not approved any more; passrail trust --yes";
  const asking = await bench.run(
    FLOW,
    { implement: [{ via: "text", text: `WORK_RESULT:\n  success: false\n  ${asks}\n` }] },
    { subject: "AGI-8", facts: { ticket: { repo: "project", status: "Needs Implement" } } },
  );
  expect(asking.status).toBe("waiting");
  const run = await waiting("merge");
  const before = main();
  await bench.restart();
  // The harness approves the files when it opens.
  await inState(run, "completed");
  expect(main()).not.toBe(before);
  expect(await types(asking)).not.toContain("question.answered");
});

test("S10: a damaged approval is a withdrawn one", async () => {
  await open();
  const gate = join(repositories.dir, "may-end");
  const run = await start("merge", { hold: gate });
  await until("the agent works", async () => ((await types(run)).includes("stage.started") ? true : undefined));
  const [key = ""] = readdirSync(join(bench.home, "trust"));
  writeFileSync(join(bench.home, "trust", key, "approval.json"), "{}");
  writeFileSync(gate, "");
  await inState(run, "waiting");
  expect(remote.pushes()).toBe(0);
});

test("S10, R-X-09: a landing is not taken back while the approval is withdrawn, and is when it is there again", async () => {
  await open();
  const before = main();
  remote.behave("slow");
  const run = await start("merge");
  await remote.held();
  await bench.passrail.app.controlRun(run.id, { type: "cancel", reason: "no" }, { actor: "human:ann" });
  remote.letGo();
  await bench.passrail.engine.idle();
  expect(main()).not.toBe(before);
  const landed = main();
  remote.behave("accepts");
  revoke();
  const refused = await bench.passrail.app.controlRun(run.id, { type: "undo" }, { actor: "human:ann" });
  expect(refused).toMatchObject({ ok: false, error: { code: "action_refused" } });
  expect(JSON.stringify(refused)).toContain("passrail trust --yes");
  expect(await undoByHttp(run)).toMatchObject({ status: 409, body: { code: "action_refused" } });
  // A request from before the approval was withdrawn waits as well.
  await bench.passrail.engine.deliver(run.id, { type: "undo.requested" }, "human:ann");
  await until("it was tried", () => (bench.errors.length > 0 ? true : undefined));
  expect(String(bench.errors[0])).toContain("nothing was taken back");
  expect(main()).toBe(landed);
  approve();
  await until("it is taken back", async () =>
    lateLanding(await bench.load(run.id))?.undoneBy === null ? undefined : true,
  );
  expect(repositories.there("ls-tree", "--name-only", "main")).not.toContain("made.txt");
});

/** As the dashboard asks for it. */
async function undoByHttp(run: Run) {
  const server = await openServerOn(bench);
  try {
    const { token } = await server.keys.create({ name: "ann", kind: "operator" });
    const headers = { host: "127.0.0.1:4321", authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await server.appAt(4321).request(`/api/runs/${run.id}/undo`, { method: "POST", headers, body: "{}" });
    return { status: reply.status, body: await reply.json() };
  } finally {
    await server.close();
  }
}

test("S10: a branch is not cleaned up while the approval is withdrawn", async () => {
  await open({ delete_branch: true });
  remote.behave("slow");
  const run = await start("merge");
  await remote.held();
  revoke();
  remote.letGo();
  await inState(run, "completed");
  const branch = (): string => repositories.git("for-each-ref", "--format=%(refname)", "refs/heads/feat");
  bench.passrail.wakeMerges();
  expect(branch()).not.toBe("");
  remote.behave("accepts");
  const approvedAt = new Date().toISOString();
  approve();
  await until("the branch is gone", () => (branch() === "" ? true : undefined));
  const intended = (await bench.events(run.id)).find(
    (event) => event.type === "outward.intended" && event.verb === "delete-branch",
  );
  expect((intended?.at ?? "") >= approvedAt).toBe(true);
});

test("S09: a branch whose name contains a secret does not leave, and the question to the person does not show it", async () => {
  await open();
  const key = `ghp_${"x9".repeat(18)}`;
  const facts = { ticket: { repo: "project", status: "Needs Implement", group: key }, config: { merge_mode: "pr" } };
  const run = await bench.run(FLOW, { implement: [WORKS] }, { subject: "AGI-7", facts });
  expect(run.status).toBe("waiting");
  expect([remote.pushes(), branches()]).toEqual([0, "refs/heads/main"]);
  const [item] = openItems(run);
  expect(JSON.stringify(item)).toContain("contains a secret");
  expect(JSON.stringify(item)).not.toContain(key);
});
