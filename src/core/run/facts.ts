// The facts of a run that Passrail itself uses, parsed from the stored JSON in one place. Conditions and templates of flows read facts by
// path instead (`factOf`), because the flow names them.

import type { Json, JsonObject } from "../json.ts";
import type { Run } from "./run.ts";

export type RunFacts = {
  /** The settings that the run was started with. */
  readonly config: {
    readonly project: string | null;
    /** The kind of workspace; a word of a newer version is kept as it is. */
    readonly workspace: string | null;
    readonly base: string | null;
    readonly mergeMode: string | null;
    readonly verdictRepair: boolean;
    readonly repositorySettings: boolean;
    readonly repositoryFiles: readonly RepositoryFile[];
  };
  /** The ticket's own keys, and where its file is. */
  readonly ticket: {
    readonly id: string | null;
    readonly file: string | null;
    readonly project: string | null;
    readonly repo: string | null;
    readonly status: string | null;
    /** Whether no other ticket builds on this one. */
    readonly isTerminal: boolean;
    /** Commits that the branch must contain; null if not set. */
    readonly contains: readonly string[] | null;
  };
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
      mergeMode: textOf(config["merge_mode"]),
      verdictRepair: config["verdict_repair"] !== false,
      repositorySettings: config["repository_settings"] === true,
      repositoryFiles: listOf(config["repository_files"]).flatMap(repositoryFile),
    },
    ticket: {
      id: textOf(ticket["id"]),
      file: textOf(ticket["file"]),
      project: textOf(ticket["project"]),
      repo: textOf(ticket["repo"]),
      status: textOf(ticket["status"]),
      isTerminal: ticket["terminal"] !== false,
      contains: Array.isArray(contains) ? contains.map(String) : null,
    },
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

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
