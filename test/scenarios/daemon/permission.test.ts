// An agent asks for permission in a process of its own: the daemon may die meanwhile, and the answer still reaches it. One item, never two.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { until } from "../../harness/until.ts";
import { type Running, startDaemonWith } from "./running.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");
let daemon: Running;
afterEach(async () => {
  await daemon.passrail(["down", "--stop-agents"]);
  await daemon.close();
});

type Item = { readonly id: string; readonly kind: string; readonly questions: readonly string[] };
const inbox = async (): Promise<readonly Item[]> =>
  (await daemon.call("GET", "/api/inbox")).body["items"] as unknown as readonly Item[];
const asked = (): Promise<Item> => until("a person is asked", async () => (await inbox())[0], 60_000);

/** A run whose agent asks for these commands, one after the other. */
async function startAsking(limits: JsonObject, ...commands: readonly string[]): Promise<string> {
  daemon = await startDaemonWith({ attempts: { process: "own" }, limits: { "*": limits } });
  const script = join(daemon.dir, "script.json");
  const steps = commands.map((command) => ({ permit: { tool_name: "Bash", input: { command } } }));
  writeFileSync(script, JSON.stringify({ "*": [[...steps, { submit: { verdict: "COMPLETE", summary: "built" } }]] }));
  const agent = { runner: "claude", command: [process.execPath, AGENT, script], permission: "ask" };
  writeFileSync(
    join(daemon.project, "passrail.yaml"),
    JSON.stringify({ agents: { "*": agent }, limits: { "*": limits } }),
  );
  const work = ["run", "routed", "Build it", "--input", "input.agent=builder", "--detach"];
  expect(await daemon.passrail(work)).toMatchObject({ code: 0 });
  return script;
}

const told = (script: string): string => (existsSync(`${script}.tools`) ? readFileSync(`${script}.tools`, "utf8") : "");

async function kill(): Promise<void> {
  daemon.process.child.kill("SIGKILL");
  await daemon.process.ended;
}

const events = async () => (await daemon.passrail(["runs", "events", "1", "--json"])).out;

test("a question outlives its daemon: the next one has the same item, and its answer reaches the agent that waits", async () => {
  const script = await startAsking({}, "npm publish", "npm test");
  const first = await asked();
  expect(first).toMatchObject({ kind: "choice" });
  await kill();
  await daemon.up();
  expect((await asked()).id).toBe(first.id);
  const shown = await daemon.passrail(["explain", "1"]);
  expect(shown.out).toContain("Bash: npm publish");
  expect(shown.out).toContain("--choice for-this-attempt");
  // Over the command line, and the next one over the API.
  expect(await daemon.passrail(["ask", "answer", "1.1", "--choice", "once"])).toMatchObject({ code: 0 });
  const second = await until(
    "it asks for the next",
    async () => (await inbox()).find(({ id }) => id !== first.id),
    60_000,
  );
  expect(await daemon.call("POST", `/api/inbox/${second.id}/answer`, { body: { answer: "deny" } })).toMatchObject({
    status: 200,
  });
  await until(
    "the stage is over",
    async () => ((await events()).includes('"stage.finished"') ? true : undefined),
    60_000,
  );
  expect(told(script)).toContain(String.raw`\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"npm publish\"}`);
  expect(told(script)).toContain(String.raw`\"behavior\":\"deny\"`);
  const history = await events();
  const ofStage = history.slice(0, history.indexOf('"stage.finished"'));
  expect(ofStage.match(/"question.asked"/gu)).toHaveLength(2);
  expect(history).not.toContain("stage.interrupted");
});

test("silence denies while no daemon lives, too; the next one closes the item", async () => {
  const script = await startAsking({ permission: "8s" }, "npm publish");
  const { id } = await asked();
  await kill();
  await until("it is denied", () => (told(script).includes(String.raw`\"deny\"`) ? true : undefined), 60_000);
  await daemon.up();
  await until("nothing is asked any more", async () => ((await inbox()).length === 0 ? true : undefined), 60_000);
  expect((await daemon.call("POST", `/api/inbox/${id}/answer`, { body: { answer: "once" } })).status).toBe(409);
});
