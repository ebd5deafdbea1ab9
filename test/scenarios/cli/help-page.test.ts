// `passrail --help` comes from a file of the build. It is the page that commander would print, and nearly as fast as Node itself.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { PROGRAM } from "../../harness/program.ts";

const WIDTHS = [40, 72, 80, 81, 100, 250];

test("the page is commander's at every width of the terminal", () => {
  for (const width of WIDTHS) {
    const terminal = encodeURIComponent(`Object.assign(process.stdout, { isTTY: true, columns: ${width} })`);
    const page = (...words: readonly string[]): string =>
      execFileSync(process.execPath, ["--import", `data:text/javascript,${terminal}`, PROGRAM, ...words], {
        encoding: "utf8",
      });
    // With a second flag the program parses its words.
    expect(page("--help")).toBe(page("--no-color", "--help"));
  }
});

test("--help takes at most twice the processor's time of bare node", () => {
  // The least of several: other work on the machine only adds.
  const script = `TIMEFORMAT='%3U %3S'; for i in 1 2 3 4 5 6 7 8; do time "$1" -e 0; time "$1" "$2" --help >/dev/null; done`;
  const told = execFileSync("bash", ["--norc", "-c", `{ ${script}; } 2>&1`, "bash", process.execPath, PROGRAM], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], PASSRAIL_HOME: "/nonexistent", LC_ALL: "C" },
  });
  const times = told
    .trim()
    .split("\n")
    .map((line) => line.split(" ").reduce((sum, part) => sum + Number(part), 0));
  const [bare, help] = [0, 1].map((turn) => Math.min(...times.filter((_, at) => at % 2 === turn)));
  expect(times).toHaveLength(16);
  expect((help ?? Number.NaN) / (bare ?? Number.NaN)).toBeLessThanOrEqual(2);
});
