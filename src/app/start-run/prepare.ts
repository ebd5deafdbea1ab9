// Collects the facts of a new run and makes every check that is possible before it is stored. All doors use it: commands, API, webhooks,
// triggers, tickets.

import { JOIN } from "../../core/run/track-branch.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type RepositorySetting, findRepositorySettings } from "../../runner/repository-settings.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import type { WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import { strongestSandbox } from "../../workspace/strongest.ts";
import type { Settings } from "../../settings/settings.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { withFlowLimits } from "../../core/flow/flow-limits.ts";
import { hashed } from "../../catalog/resolve.ts";
import { type Flow, worksOf } from "../../core/flow/flow.ts";
import { inputsOf } from "../../core/input/inputs-of.ts";
import { type Json, type JsonObject, lookUp } from "../../core/json.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import type { Subject } from "../../core/run/run.ts";
import { stageChecks } from "../../core/run/stage-checks.ts";
import { beginAt } from "./begin-at.ts";
import { type GivenFolder, readGivenFiles, readNamedRepositories } from "./given-files.ts";
import { type Inputs, otherWork, placeInputs, refuseReserved, withFact, withoutPlace } from "./inputs.ts";
import { noWorktree } from "./find-worktree.ts";
import { readModels, unusedModel, withModels } from "./models.ts";
import type { PreflightException } from "./preflight.ts";
import { projectEnvironment } from "../../settings/load.ts";
import { type Environment, homeOf } from "../../settings/site.ts";
import { createRedaction } from "../../core/secrets/redaction.ts";
import { secretsOf } from "../../runner/process/environment.ts";
import { candidates, commandNotes, missingPrograms, runnersOf } from "./runners.ts";
import { settingsFacts } from "./settings-facts.ts";
import { budgetFacts, type StartBudget } from "./start-budget.ts";
import { unreadyProgram } from "./unready-program.ts";

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
  /** `stage=opus`, or a model for all; overrides the settings. */
  readonly models?: readonly string[];
  /** The budget of the whole run, instead of the one in the settings. */
  readonly budget?: StartBudget;
  readonly workspace?: WorkspaceMode;
  /** A person gives the run the existing branch of that name. */
  readonly adoptsBranch?: boolean;
  /** Exceptions from the flow's pre-flight check that a person allows. */
  readonly allow?: readonly PreflightException[];
  /** Folders of the project that are repositories of their own and part of the work; default: those of the settings. */
  readonly repositories?: readonly string[];
  /** The state folder, for runs over several repositories. */
  readonly home?: string;
  /** Of the process that will perform; default: this one's. */
  readonly environment?: Environment;
};

export type Prepared = {
  /** The flow with the limits that the settings give it. */
  readonly resolved: ResolvedFlow;
  readonly facts: JsonObject;
  readonly warnings: readonly string[];
  /** Notes for the person before the run begins. */
  readonly notes: readonly string[];
  /** A line for a secret in the task. */
  readonly alerts: readonly string[];
  /** The texts that the run keeps copies of. */
  readonly texts: readonly string[];
};

export async function prepareRun(start: StartInput, config: Settings): Promise<Result<Prepared>> {
  const { project, subject } = start;
  const limited = withSettings(start.resolved, config);
  if (!limited.ok) return limited;
  const resolved = limited.value;
  const inputs = readInputs(start);
  if (!inputs.ok) return inputs;
  const named = namedRepositories(start, config);
  const files = readGivenFiles(resolved.flow, project, withFolders(resolved.flow, inputs.value.facts, named));
  if (!files.ok) return files;
  const folders = readNamedRepositories(project, named, files.value.folders);
  if (!folders.ok) return folders;
  const { facts: given } = files.value;
  const other = otherWork(resolved.flow, given);
  if (other !== undefined) return err(other);
  const players = playersOf(resolved, start, config);
  if (!players.ok) return players;
  const budget = budgetFacts(start.budget);
  if (!budget.ok) return budget;
  const environment = environmentOf(start);
  const mode = await workspaceMode(start, config, folders.value, environment);
  if (!mode.ok) return mode;
  const joints = start.home === undefined ? undefined : join(start.home, "joint");
  const point = { flow: resolved.flow, project, allow: start.allow ?? [], joints };
  const place = { files: files.value.files, folders: folders.value, isInPlace: mode.value.mode === "in-place" };
  const begun = await beginAt(point, config, place);
  if (!begun.ok) return begun;
  const brought = await findRepositorySettings(project);
  const facts: JsonObject = {
    ...given,
    ...(start.ticket === undefined
      ? {}
      : { ticket: { ...withoutPlace(start.ticket), ...spaceOf(given, "ticket"), ...start.ticketPlace } }),
    config: {
      // Flows that can do without landing look at it: only a mode that a person set is theirs to follow.
      ...(config.merge.mode.from === "default" ? {} : { merge_mode: config.merge.mode.value }),
      ...begun.value.base,
      ...spaceOf(given, "config"),
      project,
      workspace: mode.value.mode,
      ...settingsFacts(config),
      ...(Object.keys(config.tickets.repos).length === 0 ? {} : { repos: Object.keys(config.tickets.repos) }),
      ...(start.adoptsBranch === true ? { adopt_branch: true } : {}),
      ...budget.value,
      ...(brought.length === 0 ? {} : { repository_files: brought.map((file) => ({ ...file })) }),
    },
    runners: { ...players.value.runners },
    chosen: { ...players.value.chosen },
    ...begun.value.facts,
  };
  const wrong = unknownCheck(resolved.flow, facts) ?? unusedModel(resolved, facts, players.value.models);
  if (wrong !== undefined) return err(wrong);
  const task = `${subject.title}\n${subject.body}`;
  const missing = missingPrograms(resolved, facts, task);
  if (missing !== undefined) return err(missing);
  const stages = candidates(resolved, facts, task);
  if (!stages.ok) return stages;
  // A ticket that never reaches a stage must not wait for the stage's program.
  const checksCommands = start.ticketPlace === undefined;
  const machine = { environment, project, mode: mode.value.mode, config, checksCommands };
  const unready = await unreadyProgram(resolved, facts, stages.value, machine);
  if (unready !== undefined) return err(unready);
  const notes = [
    ...mode.value.notes,
    ...commandNotes(resolved.flow, facts),
    ...repositoryNotes(brought, config.repositorySettings.value),
  ];
  const warnings = [...inputs.value.warnings, ...begun.value.warnings];
  const alerts = secretIn(task, environment);
  return ok({ resolved, facts, warnings, notes, alerts, texts: begun.value.texts });
}

/** Who plays what: as the settings and the person say it, and what the person chose alone. */
function playersOf(resolved: ResolvedFlow, start: StartInput, { agents }: Settings) {
  const models = readModels(resolved, start.models ?? []);
  if (!models.ok) return models;
  const runners = runnersOf(resolved, start.runners, agents, start.cwd);
  if (!runners.ok) return runners;
  const chosen = runnersOf(resolved, start.runners, {}, start.cwd);
  if (!chosen.ok) return chosen;
  return ok({
    runners: withModels(runners.value, models.value),
    chosen: withModels(chosen.value, models.value),
    models: models.value,
  });
}

/** A run stores its flow by the hash, so another limit is another flow. */
function withSettings(resolved: ResolvedFlow, { flows }: Settings): Result<ResolvedFlow> {
  const flow = withFlowLimits(resolved.flow, flows[resolved.flow.name]);
  if (!flow.ok || flow.value === resolved.flow) return flow.ok ? ok(resolved) : flow;
  const { agents, prompts } = resolved;
  return ok(hashed({ flow: flow.value, agents, prompts }));
}

/** A person's words are given as written, so only a warning helps. */
function secretIn(task: string, environment: Environment): readonly string[] {
  const found = /\[REDACTED:([^\]]{1,80})\]/u.exec(createRedaction(secretsOf(environment)).text(task))?.[1];
  if (found === undefined) return [];
  return [`The task contains a secret (${found}): agents and the record of the run get it as it is written.`];
}

/** With the keys of the project's `.env`, which agents and sandboxes get as well. */
function environmentOf({ environment = process.env, home, project }: StartInput): Environment {
  const found = projectEnvironment({ home: home ?? homeOf(environment), project, environment }, "ignore");
  return found.ok ? found.value : environment;
}

/** A check without a definition would fail its stage after the work is done. */
function unknownCheck(flow: Flow, facts: JsonObject): Problem | undefined {
  for (const stage of flow.stages.flatMap(worksOf)) {
    const [name] = stageChecks(flow, { facts }, stage)?.unknown ?? [];
    if (name === undefined) continue;
    return {
      code: "unknown_check",
      message: `The stage ${stage.id} of ${flow.name} runs the check "${name}", which is not defined.`,
      hint: `Define it in passrail.yaml: checks: { ${name}: [npm, test] }`,
    };
  }
  return undefined;
}

/** The settings name repositories for flows that check them; a person may name others for this run. */
function namedRepositories({ resolved, repositories }: StartInput, config: Settings): readonly string[] {
  return repositories ?? (resolved.flow.preflight === undefined ? [] : config.repositories);
}

/** A folder that the flow asks for by the repository's name is given with it. */
function withFolders(flow: Flow, facts: JsonObject, named: readonly string[]): JsonObject {
  let all = facts;
  for (const { name, repository } of inputsOf(flow)) {
    if (repository === undefined || !named.includes(repository)) continue;
    if (lookUp(facts, name.split(".")) === undefined) all = withFact(all, name.split("."), repository);
  }
  return all;
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
  folders: readonly GivenFolder[],
  environment: Environment,
): Promise<Result<Mode>> {
  const said = workspace ?? config.workspace.value;
  const chosen = said === "by-flow" ? modeOfFlow(flow, config) : said;
  const found = chosen === "auto" ? await strongestSandbox(config.workspaces, environment) : ok(chosen);
  if (!found.ok) return found;
  const wanted = found.value;
  const joins = flow.stages.some((stage) => stage.kind === "builtin" && stage.agent === JOIN);
  if (wanted === "in-place" && joins) return err(tracksInPlace(flow.name));
  if (wanted === "in-place") return ok({ mode: wanted, notes: [inPlaceNote(project)] });
  // Several repositories have a joint one, whatever is around them.
  const isJoint = folders.some(({ path }) => existsSync(join(project, path, ".git")));
  const cannot = isJoint ? undefined : await noWorktree(project);
  if (cannot !== undefined) {
    const needsOne = joins || flow.preflight?.includes("repository") === true;
    if (said === "by-flow" && wanted === "worktree" && !needsOne && cannot.canWorkInPlace)
      return ok({ mode: "in-place", notes: [`${cannot.problem.message} ${inPlaceNote(project)}`] });
    return err(cannot.canWorkInPlace ? noRepository(cannot.problem, wanted, project, needsOne) : cannot.problem);
  }
  if (chosen === "auto") return ok({ mode: wanted, notes: [`Agents work in the strongest sandbox here: ${wanted}.`] });
  const problem = await workspaceProblem(wanted, config.workspaces, environment);
  return problem === undefined ? ok({ mode: wanted, notes: [] }) : err(problem);
}

function noRepository({ code, message }: Problem, wanted: string, project: string, needsOne: boolean): Problem {
  const init = code === "no_commit_yet" ? "" : "git init && ";
  const make = `In ${project}: ${init}git add -A && git commit -m "Start"`;
  return {
    code,
    message: `${message} A ${wanted} needs a repository with a commit.`,
    hint: needsOne ? make : `${make}\nor: --workspace in-place`,
  };
}

function modeOfFlow({ workspace }: Flow, config: Settings): WorkspaceMode | "auto" {
  if (workspace.mode === "sandbox") return config.workspaces.sandbox;
  return workspace.mode === "in-place" ? "in-place" : "worktree";
}

const tracksInPlace = (flow: string): Problem => ({
  code: "tracks_in_place",
  message: `The tracks of ${flow} would overwrite each other in the project's own folder.`,
  hint: "Give each its own: --workspace worktree",
});

const inPlaceNote = (project: string): string => `Agents work in ${project} itself, without a sandbox.`;

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
