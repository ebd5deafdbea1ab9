// Collects the facts of a new run and makes every check that is possible before it is stored. All doors use it: commands, API, webhooks,
// triggers, tickets.

import { execFileSync } from "node:child_process";
import { type RepositorySetting, findRepositorySettings } from "../../runner/repository-settings.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import { type WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Flow } from "../../core/flow/flow.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import type { Subject } from "../../core/run/run.ts";
import { type Inputs, placeInputs, refuseReserved, withoutPlace } from "./inputs.ts";
import { missingPrograms, runnersOf } from "./runners.ts";

export type StartInput = {
  readonly resolved: ResolvedFlow;
  readonly subject: Pick<Subject, "title" | "body">;
  /** The user's folder or repository; agents work on it. */
  readonly project: string;
  /** Base of relative program paths. */
  readonly cwd: string;
  /** Values for the flow's conditions and prompts, by dotted name. */
  readonly input: readonly (readonly [name: string, value: Json])[];
  /** The keys of the ticket's file. */
  readonly ticket?: JsonObject;
  /** The file's path, and other facts that only the ticket folder provides. */
  readonly ticketPlace?: { readonly file: string; readonly project: string; readonly contains: readonly string[] };
  /** `stage=claude`, `*=codex exec -`; overrides the settings. */
  readonly runners: readonly string[];
  readonly workspace?: WorkspaceMode;
};

export type Prepared = {
  readonly facts: JsonObject;
  readonly warnings: readonly string[];
  /** Notes for the person before the run begins. */
  readonly notes: readonly string[];
};

export async function prepareRun(start: StartInput, config: Settings): Promise<Result<Prepared>> {
  const { resolved, project, subject } = start;
  const inputs = readInputs(start);
  if (!inputs.ok) return inputs;
  const { facts: given, warnings } = inputs.value;
  const runners = runnersOf(resolved, start.runners, config.agents, start.cwd);
  if (!runners.ok) return runners;
  const mode = await workspaceMode(start, config);
  if (!mode.ok) return mode;
  const brought = await findRepositorySettings(project);
  const facts: JsonObject = {
    ...given,
    ...(start.ticket === undefined
      ? {}
      : { ticket: { ...withoutPlace(start.ticket), ...spaceOf(given, "ticket"), ...start.ticketPlace } }),
    config: {
      ...spaceOf(given, "config"),
      project,
      workspace: mode.value.mode,
      verdict_repair: config.verdictRepair.value,
      ...(config.runner.value === "none" ? {} : { runner: config.runner.value }),
      ...(config.model === null ? {} : { model: config.model }),
      repository_settings: config.repositorySettings.value,
      ...(brought.length === 0 ? {} : { repository_files: brought.map((file) => ({ ...file })) }),
    },
    runners: { ...runners.value },
  };
  const missing = missingPrograms(resolved, facts, `${subject.title}\n${subject.body}`);
  if (missing !== undefined) return err(missing);
  const notes = [...mode.value.notes, ...repositoryNotes(brought, config.repositorySettings.value)];
  return ok({ facts, warnings, notes });
}

function readInputs({ resolved, input }: StartInput): Result<Inputs> {
  const placed = placeInputs(resolved.flow, input);
  if (!placed.ok) return placed;
  const reserved = refuseReserved(placed.value.facts);
  return reserved === undefined ? placed : err(reserved);
}

type Mode = { readonly mode: WorkspaceMode; readonly notes: readonly string[] };

/**
 * The setting, otherwise the flow's choice; the settings define `sandbox`. Without a repository a run can only work in place, and a note
 * says so. A kind of workspace that the user named is provided or refused, never replaced.
 */
async function workspaceMode(
  { resolved: { flow }, project, workspace }: StartInput,
  config: Settings,
): Promise<Result<Mode>> {
  const said = workspace ?? config.workspace.value;
  const wanted = said === "by-flow" ? modeOfFlow(flow, config) : said;
  if (wanted === "in-place") return ok({ mode: wanted, notes: [inPlaceNote(project)] });
  const cannot = noWorktree(project);
  if (cannot !== undefined) {
    if (said === "by-flow" && wanted === "worktree")
      return ok({ mode: "in-place", notes: [`${cannot.message} ${inPlaceNote(project)}`] });
    return err({
      code: cannot.code,
      message: `${cannot.message} A ${wanted} needs a repository with a commit.`,
      hint: "git init && git commit, or --workspace in-place",
    });
  }
  const problem = await workspaceProblem(wanted, config.workspaces);
  return problem === undefined ? ok({ mode: wanted, notes: [] }) : err(problem);
}

function modeOfFlow({ workspace }: Flow, config: Settings): WorkspaceMode {
  if (workspace.mode === "sandbox") return config.workspaces.sandbox;
  return workspace.mode === "in-place" ? "in-place" : "worktree";
}

const inPlaceNote = (project: string): string => `Agents work in ${project} itself, without a sandbox.`;

function noWorktree(project: string): Problem | undefined {
  const git = (...args: string[]): string | undefined => {
    try {
      return execFileSync("git", ["-C", project, ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        timeout: 10_000,
      }).trim();
    } catch {
      return undefined;
    }
  };
  if (git("rev-parse", "--is-inside-work-tree") !== "true")
    return { code: "not_a_git_repository", message: `${project} is not a git repository.` };
  if (git("rev-parse", "--verify", "--quiet", "HEAD^{commit}") === undefined)
    return { code: "no_commit_yet", message: `The repository at ${project} has no commit yet.` };
  return undefined;
}

/** Agent settings in the repository are code of other people, so the user sees them before a run begins. */
function repositoryNotes(files: readonly RepositorySetting[], on: boolean): readonly string[] {
  if (files.length === 0) return [];
  const list = files.map(({ path }) => path).join(", ");
  return [
    on
      ? `! The repository brings settings for agents' programs, and they take effect (repository_settings: on): ${list}`
      : `The repository brings settings for agents' programs; they stay off: ${list}`,
  ];
}

function spaceOf(facts: JsonObject, key: string): JsonObject {
  const value: Json | undefined = facts[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
