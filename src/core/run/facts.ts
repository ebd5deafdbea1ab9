// The facts of a run that Passrail itself uses, parsed from the stored JSON in one place. Conditions and templates of flows read facts by
// path instead (`factOf`), because the flow names them.

import { type CheckDefinition, SUMMARY_PARSERS } from "../flow/check-result.ts";
import type { AttemptLimitsFact } from "../flow/attempt-limits.ts";
import { isName } from "../flow/name.ts";
import { isSafeGlob } from "../glob.ts";
import type { Json, JsonObject } from "../json.ts";
import { optional } from "../optional.ts";
import type { Run } from "./run.ts";

export type RunFacts = {
  /** The settings that the run was started with. */
  readonly config: {
    readonly project: string | null;
    /** The kind of workspace; a word of a newer version is kept as it is. */
    readonly workspace: string | null;
    readonly base: string | null;
    /** The folder of the joint repository of a run over several repositories. */
    readonly joint: string | null;
    /** A person gave the run an existing branch to work on. */
    readonly adoptBranch: boolean;
    readonly mergeMode: string | null;
    readonly verdictRepair: boolean;
    readonly repositorySettings: boolean;
    readonly repositoryFiles: readonly RepositoryFile[];
    /** The project's checks as they were approved when the run started. */
    readonly checks: Readonly<Record<string, CheckDefinition>>;
    /** Whether results of earlier checks on the same tree count. */
    readonly checkCache: boolean;
    /** Whether stages with a memo reuse earlier results. */
    readonly memo: boolean;
    /** Globs of the project's tests; null: the usual ones. */
    readonly testFiles: readonly string[] | null;
    /** How long attempts may take, by stage, where the settings say so. */
    readonly limits: Readonly<Record<string, AttemptLimitsFact>>;
    /** Names of repositories that tickets may name besides the project's own. */
    readonly repos: readonly string[];
    /** The budget that a person gave this run at its start; null if the settings decide. */
    readonly budget: { readonly usd: number | null; readonly tokens: number | null };
  };
  /** The ticket's own keys, and where its file is. */
  readonly ticket: {
    readonly id: string | null;
    readonly file: string | null;
    readonly project: string | null;
    readonly repo: string | null;
    readonly status: string | null;
    /** Which variant of its group it is, in the words of its author. */
    readonly variantHint: string | null;
    /** Whether no other ticket builds on this one. */
    readonly isTerminal: boolean;
    /** Commits that the branch must contain; null if not set. */
    readonly contains: readonly string[] | null;
  };
  /** The run whose work this one lands; set by `passrail merge`. */
  readonly land: { readonly run: string | null };
  /** Paths of the files of a build plan. */
  readonly plan: { readonly spec: string | null; readonly plan: string | null; readonly task: string | null };
};

/** A file of the repository that would change the behaviour of an agent's program. */
export type RepositoryFile = { readonly path: string; readonly sha256: string; readonly for: string };

export function runFacts({ facts }: Pick<Run, "facts">): RunFacts {
  const [config, ticket, plan] = [objectOf(facts["config"]), objectOf(facts["ticket"]), objectOf(facts["plan"])];
  const contains = ticket["contains"];
  return {
    config: {
      project: textOf(config["project"]),
      workspace: textOf(config["workspace"]),
      base: textOf(config["base"]),
      joint: textOf(config["joint"]),
      adoptBranch: config["adopt_branch"] === true,
      mergeMode: textOf(config["merge_mode"]),
      verdictRepair: config["verdict_repair"] !== false,
      repositorySettings: config["repository_settings"] === true,
      repositoryFiles: listOf(config["repository_files"]).flatMap(repositoryFile),
      checks: checksOf(config["checks"]),
      checkCache: config["check_cache"] !== false,
      memo: config["memo"] !== false,
      testFiles: Array.isArray(config["test_files"]) ? globsIn(config["test_files"]) : null,
      limits: limitsOf(config["limits"]),
      repos: listOf(config["repos"]).filter((name) => typeof name === "string"),
      budget: budgetOf(objectOf(config["budget"])),
    },
    ticket: {
      id: textOf(ticket["id"]),
      file: textOf(ticket["file"]),
      project: textOf(ticket["project"]),
      repo: textOf(ticket["repo"]),
      status: textOf(ticket["status"]),
      variantHint: textOf(ticket["variantHint"]),
      isTerminal: ticket["terminal"] !== false,
      contains: Array.isArray(contains) ? contains.map(String) : null,
    },
    land: { run: textOf(objectOf(facts["land"])["run"]) },
    plan: { spec: textOf(plan["spec"]), plan: textOf(plan["plan"]), task: textOf(plan["task"]) },
  };
}

/** The project whose tickets folder has the run's file; agents may work in another repository. Null if unknown. */
export function ticketProject(run: Pick<Run, "facts">): string | null {
  const { ticket, config } = runFacts(run);
  return ticket.project ?? config.project;
}

function repositoryFile(value: Json): readonly RepositoryFile[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const { path, sha256, for: program } = value as JsonObject;
  return [{ path: textOf(path) ?? "", sha256: textOf(sha256) ?? "", for: textOf(program) ?? "" }];
}

/** A glob that cannot be read matches nothing: the file it meant counts as no test. */
function globsIn(value: Json): readonly string[] {
  return listOf(value).filter((glob) => typeof glob === "string" && isSafeGlob(glob)) as readonly string[];
}

/** A definition that cannot be read is left out: a stage that names it then fails. */
function checksOf(value: Json | undefined): Readonly<Record<string, CheckDefinition>> {
  const read = Object.entries(objectOf(value)).flatMap(([name, written]): [string, CheckDefinition][] => {
    const { run, timeoutMs, parse, report, env } = objectOf(written);
    const argv = listOf(run).filter((word) => typeof word === "string");
    if (!isName(name) || argv.length === 0 || typeof timeoutMs !== "number") return [];
    const parser = SUMMARY_PARSERS.find((known) => known === parse);
    const file = textOf(report) ?? undefined;
    const names = listOf(env).filter((word) => typeof word === "string");
    return [[name, { run: argv, timeoutMs, ...optional({ parse: parser, report: file }), env: names }]];
  });
  return Object.fromEntries(read);
}

function budgetOf({ usd, tokens }: JsonObject): RunFacts["config"]["budget"] {
  const amount = (given: Json | undefined) => (typeof given === "number" && given > 0 ? given : null);
  return { usd: amount(usd), tokens: amount(tokens) };
}

function limitsOf(value: Json | undefined): Readonly<Record<string, AttemptLimitsFact>> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([stage, written]) => {
      const { totalMs, idleMs, startupMs, permissionMs, questionMs } = objectOf(written);
      const ms = (given: Json | undefined) => (typeof given === "number" && given > 0 ? given : undefined);
      const silences = { totalMs: ms(totalMs), idleMs: ms(idleMs), startupMs: ms(startupMs) };
      return [stage, optional({ ...silences, permissionMs: ms(permissionMs), questionMs: ms(questionMs) })];
    }),
  );
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
