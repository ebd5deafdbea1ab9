// The test of the pages finds what is wrong with a page: a command that fails, output that differs, an unknown command or flag.

import { describe, expect, test } from "vitest";
import { differences, firstMissing } from "./compare.ts";
import { type Fence, fencesOf, flowsOf, spansOf, stepsOf } from "./pages.ts";
import { callsIn, problemsOf, usageIn } from "./usage.ts";

const fence = (info: string, ...lines: string[]): Fence => ({ page: "p.md", line: 1, info, lines });

describe("blocks", () => {
  test("a page's fenced blocks come with their line and what they are", () => {
    expect(fencesOf("p.md", "text\n```sh\na\nb\n```\n\n```\nc\n```\n")).toEqual([
      { page: "p.md", line: 2, info: "sh", lines: ["a", "b"] },
      { page: "p.md", line: 7, info: "", lines: ["c"] },
    ]);
  });

  test("in a console block every command has the output below it", () => {
    expect(stepsOf(fence("console", "$ one", "out", "", "more", "$ two \\", "> three", "$ four"))).toEqual([
      { line: 2, command: "one", shown: ["out", "more"] },
      { line: 6, command: "two \\\nthree", shown: [] },
      { line: 8, command: "four", shown: [] },
    ]);
  });

  test("in a shell block a here document and a continued line are one command", () => {
    const steps = stepsOf(fence("sh", "# why", "cat > a <<'END'", "x", "END", "curl \\", "  -d 1", "ls"));
    expect(steps.map(({ command }) => command)).toEqual(["cat > a <<'END'\nx\nEND", "curl \\\n  -d 1", "ls"]);
  });

  test("a block of another kind has no commands; a whole flow is found by its name", () => {
    expect(stepsOf(fence("usage", "passrail run FLOW"))).toEqual([]);
    expect([...flowsOf([fence("yaml", "flow: small", "version: 1"), fence("yaml", "slots: 2")])]).toEqual([
      ["small", "flow: small\nversion: 1\n"],
    ]);
  });

  test("code spans are those of the prose", () => {
    expect(spansOf("Run `passrail up`.\n```sh\necho `date`\n```\n")).toEqual(["passrail up"]);
  });
});

describe("output", () => {
  test("shown lines occur in order; values that vary and … match", () => {
    const output = "#2 feature: x (r0123456789)\nother\n▶ spec\n[Phase 1/4] IN1: DONE, 12s → qa\n✔ by root\n";
    const shown = ["#2 feature: x (r66d35efd04)", "…", "[Phase 1/4] IN1: DONE, 0s → …", "✔ by ann"];
    expect(firstMissing(shown, output)).toBeNull();
  });

  test.each([
    ["is not there", ["gone"], "gone"],
    ["is in another order", ["b", "a"], "a"],
    ["differs in a number that does not vary", ["attempt 2"], "attempt 2"],
  ])("a line that %s is named", (_, shown, missing) => {
    expect(firstMissing(shown, "a\nb\nattempt 1\n")).toBe(missing);
  });

  test("an exit code that the page does not show is a difference, one that it shows is not", () => {
    const ran = (command: string, code: number, ...shown: string[]) => ({
      step: { line: 1, command, shown },
      code,
      output: "",
    });
    expect(differences("p.md", [ran("a", 0), ran("b", 3)])).toEqual([]);
    expect(differences("p.md", [ran("a", 1)])).toEqual([expect.stringContaining("ended with 1, not 0 or 3")]);
    expect(differences("p.md", [ran("a", -1)])).toEqual([expect.stringContaining("ended with -1")]);
    expect(differences("p.md", [ran("a", 5), ran("echo $?", 0, "5")])).toEqual([]);
    expect(differences("p.md", [ran("a", 0), ran("echo $?", 0, "5")])).toHaveLength(1);
  });
});

describe("calls of the program", () => {
  test("they are found in pipes, substitutions and subshells", () => {
    const command = `git diff | passrail run routed - --agent '*=x --y'; (umask 077; passrail key list -q) && a "$(passrail inbox --json)"`;
    expect(callsIn(command)).toEqual([
      { path: ["run", "routed"], flags: ["--agent"] },
      { path: ["key", "list"], flags: [] },
      { path: ["inbox"], flags: ["--json"] },
    ]);
  });

  test("a line of a synopsis names each of its alternatives", () => {
    expect(usageIn("passrail runs pause|resume RUN   stop for a while   [--reason TEXT]")).toEqual([
      { path: ["runs", "pause"], flags: ["--reason"] },
      { path: ["runs", "resume"], flags: ["--reason"] },
    ]);
  });

  test("known commands and flags pass", async () => {
    const lines = [
      "passrail",
      "passrail runs",
      "passrail run feature --slots 2 --json",
      "passrail runs pause|resume RUN",
    ];
    expect((await Promise.all(lines.map((line) => problemsOf(usageIn(line))))).flat()).toEqual([]);
  });

  test.each([
    ["passrail rnu x", 'there is no command "passrail rnu x"'],
    ["passrail runs pause|lst RUN", 'there is no command "passrail runs lst"'],
    ["passrail run FLOW --slot 2", '"passrail run" has no flag --slot'],
  ])("%s is refused", async (line, problem) => {
    expect(await problemsOf(usageIn(line))).toEqual([problem]);
  });
});
