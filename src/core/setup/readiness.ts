// How ready a repository is for agents that work on their own: the facts that they can find, and the checks that
// Passrail can run. A score with the next step; it never refuses a run.

import { matchesGlob } from "../glob.ts";
import { USUAL_TEST_FILES } from "../flow/test-files.ts";
import { LOCK_FILES } from "./propose.ts";

export type ReadinessItem = {
  readonly name: string;
  readonly points: number;
  readonly of: number;
  readonly found: string;
  /** Empty where all points are there. */
  readonly fix: string;
};

export type Readiness = { readonly score: number; readonly items: readonly ReadinessItem[] };

/** `files`: the paths that git tracks. */
export type ReadinessFacts = {
  readonly files: readonly string[];
  /** The names of the project's checks in force. */
  readonly checks: readonly string[];
  readonly hasSetup: boolean;
  readonly testFiles: readonly string[] | null;
};

const INSTRUCTIONS = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
const MANIFESTS = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod", "Gemfile", "composer.json"];
const OTHER_LOCKS = ["go.sum", "Cargo.lock", "Gemfile.lock", "composer.lock", "poetry.lock"];

export function readinessOf({ files, checks, hasSetup, testFiles }: ReadinessFacts): Readiness {
  const top = new Set(files);
  const has = (names: readonly string[]): string | undefined => names.find((name) => top.has(name));
  const tests = files.filter((path) => (testFiles ?? USUAL_TEST_FILES).some((glob) => matchesGlob(glob, path))).length;
  const lock = has([...Object.keys(LOCK_FILES), ...OTHER_LOCKS]);
  const needsLock = has(MANIFESTS) !== undefined;
  const told = has(INSTRUCTIONS);
  const items = [
    item(
      "checks",
      30,
      checks.length > 0,
      checks.join(", "),
      "passrail init   proposes them; red checks send work back",
    ),
    item(
      "tests",
      20,
      tests > 0,
      `${tests} ${tests === 1 ? "file" : "files"}`,
      "Write a first test: checks prove only what tests ask",
    ),
    item(
      "instructions",
      20,
      told !== undefined,
      told ?? "",
      "Write AGENTS.md: how to build, test and format, and what to leave alone",
    ),
    item(
      "lock file",
      10,
      !needsLock || lock !== undefined,
      lock ?? "not needed",
      "Commit the lock file, so that every worktree gets the same packages",
    ),
    item(
      "setup",
      10,
      !needsLock || hasSetup,
      hasSetup ? "workspaces.setup" : "not needed",
      "passrail config set workspaces.setup '[[npm, ci]]'   prepares every fresh worktree",
    ),
    item(
      "ignored files",
      5,
      top.has(".gitignore"),
      ".gitignore",
      "Write .gitignore: what builds leave behind must not become part of the work",
    ),
    item(
      "readme",
      5,
      files.some((path) => /^readme(?:\.\w+)?$/iu.test(path)),
      "there",
      "Write a README: agents read it first",
    ),
  ];
  return { score: items.reduce((sum, { points }) => sum + points, 0), items };
}

function item(name: string, of: number, isThere: boolean, found: string, fix: string): ReadinessItem {
  return isThere ? { name, points: of, of, found, fix: "" } : { name, points: 0, of, found: "missing", fix };
}
