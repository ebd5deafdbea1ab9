// A folder with a fake `gh` program for the PATH, and the GitHub state that it reports.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

export type GitHubPlay = {
  readonly issues: readonly Readonly<Record<string, unknown>>[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly login?: boolean;
  readonly hangs?: boolean;
};

export function fakeGh(dir: string) {
  const bin = join(dir, "gh-bin");
  mkdirSync(bin);
  const program = join(bin, "gh");
  const script = join(import.meta.dirname, "../fixtures/gh.mjs");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  chmodSync(program, 0o755);
  return {
    env: { PATH: [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter), GH_CONFIG_DIR: bin },
    play: (github: GitHubPlay): void => writeFileSync(join(bin, "github.json"), JSON.stringify(github)),
    calls: (): string[][] =>
      (existsSync(join(bin, "calls.jsonl")) ? readFileSync(join(bin, "calls.jsonl"), "utf8") : "")
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as string[]),
  };
}
