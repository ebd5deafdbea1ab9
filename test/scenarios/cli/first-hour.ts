// A newcomer's machine: a repository with one file, git, and perhaps a coding agent that is installed and logged in. Nothing of the real
// machine's agents, logins and settings is there.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bench, openBench } from "./bench.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");

export type Newcomer = Bench & {
  readonly env: Readonly<Record<string, string>>;
  readonly git: (...args: readonly string[]) => string;
  /** Installs `claude`, which plays this script by stage. */
  readonly install: (talk: unknown) => void;
};

export function openNewcomer(): Newcomer {
  const bench = openBench();
  const bin = join(bench.dir, "bin");
  mkdirSync(bin);
  const who = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  symlinkSync(who, join(bin, "git"));
  for (const name of ["sh", "true", "false"]) symlinkSync(join("/bin", name), join(bin, name));
  const env = {
    PATH: bin,
    HOME: join(bench.dir, "person"),
    ANTHROPIC_API_KEY: "",
    ANTHROPIC_AUTH_TOKEN: "",
    CLAUDE_CODE_OAUTH_TOKEN: "",
    GIT_CEILING_DIRECTORIES: dirname(bench.dir),
    GIT_AUTHOR_NAME: "ann",
    GIT_AUTHOR_EMAIL: "ann@localhost",
    GIT_COMMITTER_NAME: "ann",
    GIT_COMMITTER_EMAIL: "ann@localhost",
  };
  mkdirSync(env.HOME);
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8", env: { ...process.env, ...env } }).trim();
  writeFileSync(join(bench.project, "README.md"), "# Helo\n");
  git("add", "-A");
  git("commit", "-q", "-m", "readme");
  return {
    ...bench,
    env,
    git,
    install(talk) {
      const script = join(bench.dir, "talk.json");
      writeFileSync(script, JSON.stringify(talk));
      writeFileSync(
        join(bin, "claude"),
        `#!/bin/sh\ncase "$1" in --version) echo "2.1.0 (Claude Code)"; exit 0;; auth) exit 1;; esac\nexec '${process.execPath}' '${AGENT}' '${script}' "$@"\n`,
      );
      chmodSync(join(bin, "claude"), 0o755);
    },
  };
}

/** What the agents of the flow `quick` say and do on the straight way. */
export const FIXED = {
  build: [[{ write: { path: "README.md", text: "# Hello\n" } }, { submit: { verdict: "DONE", summary: "fixed" } }]],
  review: [[{ submit: { verdict: "APPROVED", summary: "good" } }]],
};
