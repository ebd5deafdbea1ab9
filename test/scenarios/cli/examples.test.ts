// The examples of every command's help: each command has one, each is a call that the program understands, and those that only look are run.

import { Command } from "commander";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { examplesOf } from "../../../src/cli/examples.ts";
import { addCommands } from "../../../src/cli/wiring.ts";
import { problemsOf, usageIn } from "../../docs/usage.ts";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeAll(async () => {
  bench = openBench();
  writeFileSync(join(bench.project, "outcomes.json"), JSON.stringify([{ stage: "build", verdict: "DONE" }]));
  await bench.passrail(["run", "feature", "Tidy", "--agent", "*=true"]);
});
afterAll(() => bench.remove());

const leaves = (command: Command, path: string): readonly string[] => {
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help" || path === "");
  const own = shown.length === 0 || command.name() === "trust" ? [path] : [];
  return [...own, ...shown.flatMap((each) => leaves(each, `${path} ${each.name()}`.trim()))];
};

async function everyCommand(): Promise<readonly string[]> {
  const program = new Command("passrail").helpCommand(false);
  addCommands(program, { call: async () => undefined, version: "0.0.0" }, []);
  return leaves(program, "");
}

test("every command has an example, and every example is a call that the program understands", async () => {
  const commands = await everyCommand();
  expect(commands.length).toBeGreaterThan(70);
  expect(commands.filter((path) => examplesOf(path).length === 0)).toEqual([]);
  const calls = commands.flatMap(examplesOf).map((line) => /passrail .*/u.exec(line)?.[0] ?? "");
  const problems = await Promise.all(calls.map((call) => problemsOf(usageIn(call))));
  expect(problems.flat()).toEqual([]);
});

/** Only those of commands that look, each once; others have their own tests with the same words. */
const LOOKS =
  /^passrail (?:config (?:list|get|explain)|settings|queue|report|cost|agent list|flow (?:list|show|check|graph|explain)|runs (?:list|show|events)|inbox|trust --diff|workspace list|verify|help|undo --list|merge-queue|trigger list)/u;

test("the examples that only look work as they are printed", async () => {
  const lines = (await everyCommand())
    .flatMap(examplesOf)
    .filter((line) => LOOKS.test(line) && !line.includes("--attempt"));
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    // The reader's own number is 1 here.
    const words = [...line.replaceAll(/\b12\b/gu, "1").matchAll(/"([^"]*)"|(\S+)/gu)].map(
      ([, quoted, bare]) => quoted ?? bare ?? "",
    );
    const ended = await bench.passrail(words.slice(1));
    expect({ line, ...ended }).toMatchObject({ line, code: 0 });
  }
});
