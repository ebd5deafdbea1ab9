// One hardened call of git. An agent in a worktree can write the shared .git, so Passrail must never execute anything that a repository's
// configuration names: no shell, hooks, filters, pager, network or prompts.
// Settings go through GIT_CONFIG_COUNT, not `-c`: `-c` cannot carry a key that holds '=' (filter."a=b".smudge).

import { err, ok, type Problem, type Result } from "../core/result.ts";
import { launch } from "./launch.ts";
import type { LaunchFailure } from "./launch-here.ts";
import { settingsOfFile } from "./plain-config.ts";
import { ASK_GIT } from "./plain-file.ts";

/** A work tree and its repository, named explicitly so that a tampered `.git` file or core.worktree cannot redirect a call. */
export type GitLocation = { readonly gitDir: string; readonly commonDir: string; readonly top: string };

export type GitOptions = {
  readonly place?: GitLocation;
  /**
   * Set for calls that read or write files of a work tree: it turns off the filter drivers that apply there.
   * Writing an index counts too: git then rereads files whose timestamps are too close to compare.
   */
  readonly touchesFiles?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** How to treat more output than `maxBytes`: fail (default), or keep the beginning. */
  readonly overflow?: "fail" | "cut";
  /** Exit codes that are answers rather than errors; the output then begins with the code and a NUL. */
  readonly exits?: readonly number[];
  /** `latin1` preserves file names of any bytes. */
  readonly encoding?: "utf8" | "latin1";
};

/** Runs git in `dir` (absolute) and returns its standard output. */
export async function git(dir: string, args: readonly string[], options: GitOptions = {}): Promise<Result<string>> {
  // Objects beside the repository go with their caller.
  let settings = [...SETTINGS, ...(options.env?.["GIT_OBJECT_DIRECTORY"] === undefined ? SYNCED : UNSYNCED)];
  if (options.touchesFiles === true) {
    const config = await readConfig(dir, options.place);
    if (!config.ok) return config;
    settings = [...settings, ...filtersOff(config.value)];
  }
  const end = await runTrusted(dir, args, options, settings);
  const expected = end.exitCode !== null && options.exits?.includes(end.exitCode) === true;
  return expected ? ok(`${end.exitCode}\0${end.stdout}`) : outcome(end);
}

async function runTrusted(dir: string, args: readonly string[], options: GitOptions, settings: readonly Setting[]) {
  const end = await run(dir, args, options, settings);
  if (end.problem?.code !== "dubious_ownership") return end;
  // The user declares safe folders in their global configuration, which git otherwise does not read here.
  const trusted = await userSafeDirectories(dir);
  return trusted.length === 0 ? end : run(dir, args, options, [...settings, ...trusted]);
}

/** The effective configuration as pairs; the last pair of a key wins. Reading it executes nothing. */
export async function readConfig(dir: string, place?: GitLocation): Promise<Result<readonly Setting[]>> {
  const known = place === undefined ? ASK_GIT : await settingsOfFile(place.commonDir, parseConfig);
  if (known !== ASK_GIT) return ok(known);
  const listed = await git(dir, ["config", "--null", "--list"], { ...(place && { place }) });
  if (!listed.ok) return listed;
  return ok(settingsIn(listed.value));
}

/** git parses the text from its input and follows no include; null if it cannot. */
async function parseConfig(bytes: Buffer): Promise<readonly Setting[] | null> {
  const args = ["config", "--no-includes", "--file", "-", "--null", "--list"];
  const listed = await git("/", args, { input: bytes.toString("latin1"), encoding: "latin1" });
  return listed.ok ? settingsIn(Buffer.from(listed.value, "latin1").toString("utf8")) : null;
}

/** The user's own configuration file, which no other call reads; empty if there is none. */
export async function readUserConfig(dir: string): Promise<readonly Setting[]> {
  const args = ["config", "--global", "--null", "--list"];
  const end = await run(dir, args, { env: { GIT_CONFIG_GLOBAL: process.env["GIT_CONFIG_GLOBAL"] ?? "" } }, SETTINGS);
  return end.problem === null ? settingsIn(end.stdout) : [];
}

function settingsIn(listed: string): Setting[] {
  const entries = listed.split("\0").filter((entry) => entry !== "");
  return entries.map((entry): Setting => {
    const newline = entry.indexOf("\n");
    return newline === -1 ? [entry, ""] : [entry.slice(0, newline), entry.slice(newline + 1)];
  });
}

/** For calls about refs and worktrees, which need no files. */
export const inRepository = (commonDir: string): GitOptions => ({ env: { GIT_DIR: commonDir } });

type Setting = readonly [key: string, value: string];
type End = { readonly stdout: string; readonly problem: Problem | null; readonly exitCode: number | null };

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;

const SETTINGS: readonly Setting[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  // An index written by an agent may carry a cache that hides untracked files, or point to a shared part elsewhere.
  ["core.untrackedCache", "false"],
  ["core.splitIndex", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.sshCommand", "false"],
  ["core.askPass", ""],
  ["credential.helper", ""],
  ["protocol.ext.allow", "never"],
  // A shell runs this when a repository with alternates fetches; Passrail never needs its answer.
  ["core.alternateRefsCommand", "true"],
  ["submodule.recurse", "false"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Files named HEAD, objects and refs in a work tree must not become a repository.
  ["safe.bareRepository", "explicit"],
];

/** By itself git leaves new objects to the kernel; many at once cost one wait for the disk. */
const SYNCED: readonly Setting[] = [
  ["core.fsync", "committed,loose-object"],
  ["core.fsyncMethod", "batch"],
];
const UNSYNCED: readonly Setting[] = [["core.fsync", "none"]];

const ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  GIT_SSH_COMMAND: "false",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  GIT_OPTIONAL_LOCKS: "0",
  // No call here talks to a remote; a planted promisor remote must not start one either.
  GIT_ALLOW_PROTOCOL: "none",
  GIT_PROTOCOL_FROM_USER: "0",
  GIT_NO_LAZY_FETCH: "1",
  // refs/replace can make a commit show other content than it has.
  GIT_NO_REPLACE_OBJECTS: "1",
};

function filtersOff(config: readonly Setting[]): Setting[] {
  const driversOf = (kind: string): ReadonlySet<string> => {
    const names = config.filter(([key]) => key.startsWith(`${kind}.`) && key.lastIndexOf(".") > kind.length);
    return new Set(names.map(([key]) => key.slice(kind.length + 1, key.lastIndexOf("."))));
  };
  const filters = [...driversOf("filter")].flatMap((driver): Setting[] => [
    [`filter.${driver}.clean`, ""],
    [`filter.${driver}.smudge`, ""],
    [`filter.${driver}.process`, ""],
    [`filter.${driver}.required`, "false"],
  ]);
  // A failing merge driver leaves a conflict; an empty one would pass one side off as the result.
  return [...filters, ...[...driversOf("merge")].map((driver): Setting => [`merge.${driver}.driver`, "false"])];
}

async function userSafeDirectories(dir: string): Promise<Setting[]> {
  return (await readUserConfig(dir)).filter(([key]) => key === "safe.directory");
}

async function run(
  dir: string,
  args: readonly string[],
  options: GitOptions,
  settings: readonly Setting[],
): Promise<End> {
  const encoding = options.encoding ?? "utf8";
  const { stdout, stderr, failure } = await launch({
    file: "git",
    args: ["--no-pager", "-C", dir, ...args],
    env: environment(options, settings),
    input: Buffer.from(options.input ?? "", encoding),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  });
  const text = Buffer.from(stdout).toString(encoding);
  const isCut = failure?.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" && options.overflow === "cut";
  if (failure === null || isCut) return { stdout: text, problem: null, exitCode: 0 };
  const exitCode = typeof failure.code === "number" ? failure.code : null;
  return { stdout: text, problem: problemOf(dir, args, failure, Buffer.from(stderr).toString("utf8")), exitCode };
}

function environment(options: GitOptions, settings: readonly Setting[]): Record<string, string> {
  const env: Record<string, string> = { ...ENVIRONMENT };
  for (const name of ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  env["GIT_CONFIG_COUNT"] = String(settings.length);
  settings.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  if (options.place) {
    env["GIT_DIR"] = options.place.gitDir;
    env["GIT_COMMON_DIR"] = options.place.commonDir;
    env["GIT_WORK_TREE"] = options.place.top;
  }
  Object.assign(env, options.env);
  if (env["GIT_CONFIG_GLOBAL"] === "") delete env["GIT_CONFIG_GLOBAL"];
  return env;
}

const outcome = (end: End): Result<string> => (end.problem === null ? ok(end.stdout) : err(end.problem));

function problemOf(dir: string, args: readonly string[], failure: LaunchFailure, stderr: string): Problem {
  const command = `git ${args.find((arg) => !arg.startsWith("-")) ?? ""}`.trim();
  if (failure.code === "ENOENT") {
    return {
      code: "git_missing",
      message: "The program git was not found.",
      hint: "Install git 2.39 or newer and put it on PATH.",
    };
  }
  if (failure.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    return { code: "git_output_too_large", message: `${command} in ${dir} gave more output than is read.` };
  }
  if (failure.isTimeout) {
    const hint = "Look for a very large or slow folder, or a file system that hangs, and try again.";
    return { code: "git_timeout", message: `${command} in ${dir} took too long and was ended.`, hint };
  }
  if (stderr.includes("dubious ownership")) {
    const hint = `If you trust it: git config --global --add safe.directory ${dir}`;
    return {
      code: "dubious_ownership",
      message: `${dir} belongs to another user, so git refuses to work there.`,
      hint,
    };
  }
  if (stderr.includes("lazy fetching disabled") || stderr.includes("promisor")) {
    const hint = `Fetch what the partial clone left out: git -C ${dir} fetch --refetch --no-filter`;
    return {
      code: "objects_missing",
      message: `${command} in ${dir} needs objects that are not on this machine.`,
      hint,
    };
  }
  const said = stderr.trim() === "" ? failure.message : stderr;
  return { code: "git_failed", message: `${command} failed in ${dir}: ${readable(said)}` };
}

/** The end of git's message on one line; file names in it may hold control characters. */
function readable(text: string): string {
  return text
    .trim()
    .slice(-600)
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}
