// The first use of a project whose files decide what runs: the question at a terminal, and the commands for a person without one.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hasTerminal } from "../../harness/terminal.ts";
import { openScene, type TrustScene } from "./place.ts";

vi.setConfig({ testTimeout: 120_000 });

let scene: TrustScene;
beforeEach(() => {
  scene = openScene();
  writeFlow("true");
});
afterEach(() => scene.remove());

const HIDDEN = "\u001B[2J\u202Eevil";

/** One stage that leaves a mark, and a gate. */
function writeFlow(note: string): void {
  scene.write("passrail.yaml", JSON.stringify({ agents: { "*": { command: ["sh", "-c", `touch ${scene.canary}`] } } }));
  scene.write(
    ".passrail/flows/small.yaml",
    `flow: small
version: 1
title: ${JSON.stringify(note)}
subject: task
allow_ungated: true
workspace: { mode: in-place }
words: { health: { "0": complete }, unknown_health: failed, unknown_verdict: pass }
stages:
  - { id: build, agent: worker, result: { from: exit-code } }
  - { id: ship, kind: gate }
`,
  );
  scene.write(".passrail/agents/worker.md", "---\nname: worker\ndescription: works\n---\nWork.\n");
}

const RUN = ["run", "small", "one"];
const QUESTION = "Approve these files? Nothing runs before you do. [y/N]";

test.runIf(hasTerminal)(
  "S10: at a terminal the first use shows what would run and asks; no runs nothing, yes approves",
  async () => {
    for (const no of ["\r", "yes please\r", "\u0003"]) {
      const asked = scene.terminal(RUN);
      await asked.sees(QUESTION);
      asked.types(no);
      const { code, text } = await asked.ended;
      expect(code).toBe(1);
      expect(text).toContain("project_not_trusted");
      expect(text).toContain("passrail trust --yes");
    }
    expect(existsSync(scene.canary)).toBe(false);
    const asked = scene.terminal(RUN);
    await asked.sees(QUESTION);
    asked.types("y\r");
    await asked.sees("later > ");
    asked.types("l\r");
    const { code, text } = await asked.ended;
    expect(text).toContain(`touch ${scene.canary}`);
    expect(code).toBe(3);
    expect(existsSync(scene.canary)).toBe(true);
    expect(readFileSync(join(scene.home, "audit.jsonl"), "utf8")).toContain("trust: approved");
  },
);

test.runIf(hasTerminal)("S10: a change asks again; no goes on with the approved version", async () => {
  await scene.passrail(["trust", "--yes"]);
  writeFlow("another title");
  const asked = scene.terminal(RUN);
  await asked.sees("Approve this version? Otherwise runs keep the approved one. [y/N]");
  asked.types("n\r");
  await asked.sees("later > ");
  asked.types("l\r");
  expect((await asked.ended).code).toBe(3);
  expect(JSON.parse((await scene.passrail(["trust", "--json"])).out)).toMatchObject({ state: "changed" });
});

test("S10: without a terminal the first use is an error with the commands to type; a script's yes on standard input does not count", async () => {
  const refused = await scene.passrail([...RUN, "--json"]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("project_not_trusted");
  expect(refused.err).toContain("passrail trust --yes");
  expect(existsSync(scene.canary)).toBe(false);
});

test("S10: trust lists, --diff shows every line with hidden characters visible, --yes approves, revoke takes it back", async () => {
  const first = await scene.passrail(["trust"]);
  expect(first.code).toBe(3);
  expect(first.out).toContain("passrail.yaml");
  expect((await scene.passrail(["trust", "--yes"])).code).toBe(0);
  writeFlow(HIDDEN);
  const shown = await scene.passrail(["trust", "--diff"]);
  expect(shown.code).toBe(3);
  expect(shown.out).toMatch(/^\+title: /mu);
  expect(shown.out).not.toContain("\u001B");
  expect(shown.out).not.toContain("\u202E");
  expect((await scene.passrail(["trust", "revoke"])).code).toBe(0);
  expect((await scene.passrail(["trust", "revoke"])).err).toContain("trust_not_found");
  expect((await scene.passrail(["trust"])).code).toBe(3);
});
