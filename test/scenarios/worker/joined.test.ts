// A worker with its own state folder carries out the stages of a run: commits, handoffs, logs and verdicts come back to the node.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { until } from "../../harness/until.ts";
import { happyFeature } from "../cli/bench.ts";
import { openSite, runIdOf, type Site } from "./site.ts";

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
