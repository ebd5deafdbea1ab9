// Completion: what `complete` answers, and the scripts in the real shells.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasTerminal, openTerminal } from "../../harness/terminal.ts";
import { type Bench, CLI, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  bench = openBench();
  const bin = join(bench.dir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "passrail"), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(bin, "passrail"), 0o755);
  env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, PASSRAIL_HOME: bench.home, HOME: bench.dir };
  mkdirSync(join(bench.project, ".passrail/flows"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail/flows/nightly.yaml"), "flow: nightly\n");
  await bench.passrail(["run", "feature", "Tidy: the shed", "--agent", "*=true"]);
});
afterAll(() => bench.remove());

const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { code, out, err } = await bench.passrail(["complete", "--", ...words]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out.split("\n").filter((line) => line !== "");
};
const wordsOf = async (...words: readonly string[]) => (await complete(...words)).map((line) => line.split("\t")[0]);

test("commands, flags, values and ids come from the registrations and the store, each with what it is", async () => {
  expect(await complete("inb")).toEqual(["inbox\tlist what waits for a person"]);
  expect(await wordsOf("runs", "sh")).toEqual(["show"]);
  expect(await complete("runs", "show", "")).toEqual(["1\twaiting · feature · Tidy: the shed"]);
  expect(await complete("gate", "approve", "")).toEqual(["1.1\tgate start · Tidy: the shed"]);
  expect(await wordsOf("ask", "answer", "")).toEqual([]);
  expect(await wordsOf("run", "n")).toEqual(["nightly"]);
  expect(await wordsOf("run", "quick", "--agent", "*=c")).toEqual(["*=claude", "*=codex"]);
  expect(await wordsOf("runs", "skip", "1", "--stage", "de")).toEqual(["design"]);
  expect(await wordsOf("--home", "/nowhere", "runs", "show", "")).toEqual([]);
  expect(await wordsOf("runs", "list", "--li")).toEqual(["--limit"]);
  expect(await wordsOf("completion", "p")).toEqual(["powershell"]);
  expect(await wordsOf("config", "get", "merge.mo")).toEqual(["merge.mode"]);
  expect(await wordsOf("run", "quick", "--ticket", "")).toEqual([":files"]);
});

test("nothing that a person has typed half makes it fail or print an error", async () => {
  for (const words of [["nonsense", ""], ["runs", "--nope", ""], ["--", "-"], ["runs", "show", "1", "2", "3"], [""]])
    await complete(...words);
});

describe.runIf(hasTerminal)("a tab in a real shell", () => {
  const SHELLS = [
    { shell: "bash", file: ".bashrc", load: "source <(passrail completion bash)" },
    { shell: "zsh", file: ".zshrc", load: "autoload -Uz compinit; compinit -u -D; source <(passrail completion zsh)" },
  ];
  const isThere = ({ shell }: { readonly shell: string }): boolean => existsSync(`/usr/bin/${shell}`);

  test.each(SHELLS.filter(isThere))("$shell completes a command and the only run", async ({ shell, file, load }) => {
    const rc = join(bench.dir, file);
    writeFileSync(rc, `${load}\nPS1='ready> '\n`);
    const start = shell === "bash" ? ["--rcfile", rc, "-i"] : ["-i"];
    const terminal = openTerminal([`/usr/bin/${shell}`, ...start], {
      cwd: bench.project,
      env: { ...env, ZDOTDIR: bench.dir },
    });
    await terminal.sees("ready> ");
    terminal.types("passrail runs sho\t\t\r");
    await terminal.sees("Tidy: the shed");
    terminal.types("exit\r");
    expect((await terminal.ended).text).toContain("gate start");
  });

  test.runIf(existsSync("/usr/bin/fish"))("fish lists words with their descriptions", () => {
    const ask = (line: string): string =>
      execFileSync("/usr/bin/fish", ["-c", `passrail completion fish | source; complete -C '${line}'`], {
        cwd: bench.project,
        env,
        encoding: "utf8",
      });
    expect(ask("passrail gate approve ")).toBe("1.1\tgate start · Tidy: the shed\n");
    expect(ask("passrail runs eve")).toMatch(/^events\t/u);
  });
});
