import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHookCommands } from "./hook-commands.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-hooks-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const node = (code: string) => [process.execPath, "-e", code];
const SAVE = 'process.stdin.on("data",d=>require("fs").appendFileSync("got.txt",d))';

test("R-001-36: a program gets the event as one line of JSON in the project's folder", async () => {
  const problems: string[] = [];
  const hooks = createHookCommands({ onProblem: (text) => problems.push(text), atOnce: 1 });
  hooks.add({ argv: node(SAVE), cwd: dir, payload: { event: "tool_use", argument: "a\nb; rm -rf /" } });
  await hooks.close();
  expect(JSON.parse(readFileSync(join(dir, "got.txt"), "utf8"))).toEqual({
    event: "tool_use",
    argument: "a\nb; rm -rf /",
  });
  expect(problems).toEqual([]);
});

async function waitFor(problems: readonly string[], count: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (problems.length < count && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("a program that fails or is missing is reported, and what does not fit into the line is counted", async () => {
  const problems: string[] = [];
  const hooks = createHookCommands({ onProblem: (text) => problems.push(text), atOnce: 1, most: 1 });
  hooks.add({ argv: node("process.exit(3)"), cwd: dir, payload: {} });
  hooks.add({ argv: ["/nonexistent/hook"], cwd: dir, payload: {} });
  hooks.add({ argv: node(""), cwd: dir, payload: {} });
  await waitFor(problems, 3);
  // The path of the program decides how these sort, so each is looked up separately.
  expect(problems).toHaveLength(3);
  expect(problems).toContain("hook /nonexistent/hook: ENOENT");
  expect(problems).toContain("hooks: 1 calls were dropped, because their programs are too slow");
  expect(problems).toContainEqual(expect.stringMatching(/^hook \S+: exit code 3$/));
  await hooks.close();
});

test("a program that hangs is ended", async () => {
  const problems: string[] = [];
  const hooks = createHookCommands({ onProblem: (text) => problems.push(text), timeoutMs: 100 });
  hooks.add({ argv: node("setInterval(()=>{},1000)"), cwd: dir, payload: {} });
  await hooks.close();
  expect(problems).toEqual([expect.stringContaining("no end after 100 ms")]);
});
