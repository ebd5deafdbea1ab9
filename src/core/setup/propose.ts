// Reads a project's checks and preparation from its own files. Only programs and arguments from this table are proposed: the files'
// texts choose among them and never become part of a command.

import type { SummaryParser } from "../flow/check-result.ts";
import { optional } from "../optional.ts";

/** Texts of files at the top of the project; undefined where there is none. */
export type ProjectTexts = Readonly<Record<(typeof READ_FILES)[number], string | undefined>>;

export const READ_FILES = ["package.json", "Makefile", "pyproject.toml", "go.mod", "Cargo.toml"] as const;

/** Lock files and the manager that each belongs to, the surest first. */
export const LOCK_FILES = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
  "package-lock.json": "npm",
  "uv.lock": "uv",
  "poetry.lock": "poetry",
} as const;
type Manager = (typeof LOCK_FILES)[keyof typeof LOCK_FILES];

export type ProposedCheck = {
  readonly name: string;
  readonly run: readonly string[];
  readonly parse?: SummaryParser;
  /** The file that it was found in. */
  readonly from: string;
};

export type ProposedSettings = {
  readonly managers: readonly string[];
  readonly checks: readonly ProposedCheck[];
  /** Commands that a fresh worktree needs. */
  readonly setup: readonly (readonly string[])[];
};

export function propose(texts: ProjectTexts, locks: readonly string[]): ProposedSettings {
  const managers = Object.entries(LOCK_FILES).flatMap(([file, manager]) => (locks.includes(file) ? [manager] : []));
  const node = nodeManager(texts, managers);
  const found = [
    ...scriptChecks(texts["package.json"], node ?? "npm"),
    ...pythonChecks(texts["pyproject.toml"], managers),
    ...(texts["go.mod"] === undefined ? [] : [check("test", ["go", "test", "./..."], "go.mod")]),
    ...(texts["Cargo.toml"] === undefined ? [] : [check("test", ["cargo", "test"], "Cargo.toml", "cargo")]),
    ...makeChecks(texts["Makefile"]),
  ];
  return {
    managers: [...new Set(node === undefined ? managers : [node, ...managers])],
    // The first that has a name keeps it: a Makefile usually calls the others.
    checks: found.filter(({ name }, index) => found.findIndex((other) => other.name === name) === index),
    setup: managers.flatMap((manager) => (SETUP[manager] === undefined ? [] : [SETUP[manager]])).slice(0, 1),
  };
}

const SETUP: Readonly<Partial<Record<Manager, readonly string[]>>> = {
  npm: ["npm", "ci"],
  pnpm: ["pnpm", "install", "--frozen-lockfile"],
  yarn: ["yarn", "install", "--frozen-lockfile"],
  bun: ["bun", "install", "--frozen-lockfile"],
  uv: ["uv", "sync", "--frozen"],
  poetry: ["poetry", "install"],
};

/** A script's name in package.json -> the name of its check. */
const SCRIPTS: Readonly<Record<string, string>> = {
  test: "test",
  lint: "lint",
  types: "types",
  typecheck: "types",
  "type-check": "types",
};

const TOOLS: readonly (readonly [word: RegExp, parser: SummaryParser])[] = [
  [/\bvitest\b/u, "vitest"],
  [/\bjest\b/u, "jest"],
  [/\beslint\b/u, "eslint"],
  [/\btsc\b/u, "tsc"],
];

function scriptChecks(text: string | undefined, manager: string): readonly ProposedCheck[] {
  const scripts = scriptsIn(text);
  return Object.entries(SCRIPTS).flatMap(([script, name]) => {
    const line = scripts.get(script);
    // The text that `npm init` writes is no test.
    if (line === undefined || line.includes("no test specified")) return [];
    const run = script === "test" ? [manager, "test"] : [manager, "run", script];
    return [check(name, run, "package.json", TOOLS.find(([word]) => word.test(line))?.[1])];
  });
}

function scriptsIn(text: string | undefined): ReadonlyMap<string, string> {
  try {
    const { scripts } = JSON.parse(text ?? "{}") as { scripts?: unknown };
    if (typeof scripts !== "object" || scripts === null) return new Map();
    return new Map(Object.entries(scripts).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
  } catch {
    return new Map();
  }
}

function nodeManager(texts: ProjectTexts, managers: readonly Manager[]): Manager | undefined {
  if (texts["package.json"] === undefined) return undefined;
  return managers.find((manager) => manager !== "uv" && manager !== "poetry") ?? "npm";
}

function pythonChecks(text: string | undefined, managers: readonly Manager[]): readonly ProposedCheck[] {
  if (text === undefined) return [];
  const before = managers.includes("uv") ? ["uv", "run"] : managers.includes("poetry") ? ["poetry", "run"] : [];
  return [
    ...(text.includes("pytest") ? [check("test", [...before, "pytest"], "pyproject.toml", "pytest")] : []),
    ...(text.includes("ruff") ? [check("lint", [...before, "ruff", "check", "."], "pyproject.toml")] : []),
  ];
}

function makeChecks(text: string | undefined): readonly ProposedCheck[] {
  return ["test", "lint", "check"].flatMap((target) =>
    text !== undefined && new RegExp(`^${target}[ \\t]{0,10}:(?!=)`, "mu").test(text)
      ? [check(target, ["make", target], "Makefile")]
      : [],
  );
}

function check(name: string, run: readonly string[], from: string, parse?: SummaryParser): ProposedCheck {
  return { name, run, from, ...optional({ parse }) };
}
