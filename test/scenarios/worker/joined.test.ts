// A worker with its own state folder carries out the stages of a run: commits, handoffs, logs and verdicts come back to the node.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { until } from "../../harness/until.ts";
import { happyFeature } from "../cli/bench.ts";
import { lines, openSite, runIdOf, type Site } from "./site.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");

let site: Site;
afterEach(() => site.close());

const git = (dir: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" }).trim();

async function waitsFor({ node }: Site, why: string): Promise<void> {
  const isSo = async (): Promise<true | undefined> => {
    const { body } = await node.call("GET", "/api/now");
    return (body["next"] as unknown as { why: string }[])[0]?.why === why ? true : undefined;
  };
  await until(`an attempt waits: ${why}`, isSo, 60_000);
}

test("a worker carries out a whole run, and its commits are on the run's branch of the node", {
  timeout: 240_000,
}, async () => {
  site = await openSite({ workers: { place: "workers-only", lease: "6s", labels: { build: ["gpu"] } } });
  const { node } = site;
  const agent = node.player(happyFeature);
  expect(await node.passrail(["run", "feature", "Build it", "--agent", `*=${agent}`, "--detach"])).toMatchObject({
    code: 0,
  });
  const runId = await runIdOf(site);
  const approving = node.start(["gate", "approve", "1"]);
  await waitsFor(site, "no worker has joined");
  expect(await node.passrail(["queue"])).toMatchObject({ out: expect.stringContaining("it waits for a worker") });
  const plain = await site.join("plain");
  await waitsFor(site, "no worker with gpu has joined");
  plain.child.kill("SIGTERM");
  await plain.ended;
  const worker = await site.join("box", { args: ["--labels", "gpu"] });
  await approving.ended;
  await site.seen("stage.finished", 4);
  const attempts = await site.attempts(runId);
  const work = attempts.filter(({ facts }) => "runner" in facts).map((record) => attemptFacts(record));
  expect(work.map(({ claim }) => claim?.worker)).toEqual(["plain", "plain", "box", "box"]);
  const shown = await node.passrail(["runs", "show", runId]);
  expect(shown.out).toMatch(/spec#1.*\tplain$/m);
  expect(shown.out).toMatch(/build#1.*\tbox$/m);
  const build = attempts.find(({ stage }) => stage === "build");
  const { branch, to } = attemptFacts(build ?? { facts: {} });
  expect(git(node.project, "rev-parse", branch ?? "")).toBe(to);
  expect(git(node.project, "show", `${branch}:a.txt`)).toBe("1");
  const record = join(node.home, "runs", runId, "build-1");
  expect(readFileSync(join(record, "prompt.md"), "utf8")).toContain("Build it");
  const listed = await node.passrail(["worker", "list", "--json"]);
  expect(JSON.parse(listed.out).workers).toMatchObject([{ name: "local" }, { name: "box", state: "open", slots: 1 }]);
  expect(await node.passrail(["worker", "cordon", "box"])).toMatchObject({ code: 0 });
  expect(await node.passrail(["worker", "open", "box"])).toMatchObject({ code: 0 });
  expect(await node.passrail(["worker", "drain", "box"])).toMatchObject({ code: 0 });
  expect(await worker.ended).toMatchObject({ code: 0, err: expect.stringContaining("drained") });
  await until(
    "the output is here",
    () => readFileSync(join(record, "output.log"), "utf8").includes("COMPLETE") || undefined,
  );
});

test("an agent on a worker gets the answer of a person in place, over a restart of the node", {
  timeout: 120_000,
}, async () => {
  // The node itself has no Claude Code. The worker must find its node again before its lease ends, also on a busy machine.
  site = await openSite({ workers: { place: "workers-only", lease: "60s" }, limits: { "*": { question: "5m" } } });
  const { node } = site;
  const script = join(node.dir, "script.json");
  const done = { submit: { verdict: "APPROVE", summary: "Built there." } };
  writeFileSync(script, JSON.stringify({ "*": [[{ ask: { question: "Which database?" } }, done]] }));
  await site.join("box", { programs: { claude: { command: [process.execPath, AGENT, script] } } });
  const words = [
    "run",
    "routed",
    "Build it",
    "--input",
    "input.agent=builder",
    "--workspace",
    "worktree",
    "--agent",
    "*=claude",
    "--detach",
  ];
  expect(await node.passrail(words)).toMatchObject({ code: 0 });
  await site.seen("question.asked");
  node.process.child.kill("SIGKILL");
  await node.process.ended;
  await node.up("--port", new URL(node.url).port);
  const answered = await node.passrail(["ask", "answer", "1.1", "Postgres\n```\nnot a fence", "--json"]);
  expect(answered.out).toContain("it reached the agent while it worked");
  await site.seen("stage.finished");
  const events = await site.events();
  expect(events.filter(({ type }) => type === "stage.started" || type === "stage.interrupted")).toHaveLength(1);
  expect(events.find((event) => event.type === "stage.finished")).toMatchObject({
    outcome: { summary: "Built there." },
  });
  const [heard = ""] = lines(`${script}.tools`);
  expect(heard).toContain("not a fence");
  const record = (await site.attempts(await runIdOf(site))).find(({ stage }) => stage === "builder");
  expect(attemptFacts(record ?? { facts: {} }).claim).toMatchObject({ worker: "box" });
  // The node itself has it from the person.
  const answer = events.find(({ type }) => type === "question.answered");
  expect(answer).toMatchObject({ inPlace: true, answer: expect.stringContaining("Postgres") });
});
