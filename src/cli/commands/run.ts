// `run FLOW "text"`: prepares a run, checks everything that can be checked, starts it and stays with it until it rests.

import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { loadConfig, type RepositoryFile, repositoryFiles } from "../../compose.ts";
import type { ResolvedFlow } from "../../core/agent.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Config } from "../../config.ts";
import { startDetached } from "../detach.ts";
import { CliError, problemError, usageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { requireOperator } from "../operator.ts";
import { plainText } from "../plain-text.ts";
import { printPhases, printRest } from "../report.ts";
import type { RunPlan } from "../run-plan.ts";
import { inputFacts, requirePrograms, runnersOf } from "../run-facts.ts";
import { exitOf, workOn } from "../session.ts";
import { readTask } from "../task-text.ts";
import { flowError, requireFlow } from "./flow-catalog.ts";

export type RunOptions = {
  readonly ticket?: string;
  readonly agent: readonly string[];
  readonly input: readonly string[];
  readonly workspace?: string;
  readonly slots?: string;
  readonly id?: string;
  readonly title?: string;
  readonly detach: boolean;
};

export async function run(io: Io, flowName: string, text: string | undefined, options: RunOptions): Promise<number> {
  requireOperator(io, "run");
  const plan = await prepare(io, flowName, text, options);
  return options.detach ? startDetached(io, plan) : startRun(io, plan);
}

export async function startRun(io: Io, { runId, resolved, subject, facts, flags }: RunPlan): Promise<number> {
  if (io.quiet && !io.json) io.out(runId);
  const rest = await workOn(io, {
    runId,
    flags,
    follow: true,
    stream: true,
    lines: "err",
    first: async ({ engine, store, person }) => {
      const delivery = await engine.startRun({ runId, resolved, subject, facts, actor: person });
      const [summary] = await store.findRuns(runId);
      if (!io.json && !io.quiet)
        io.err(plainText(`#${summary?.number ?? "?"} ${resolved.flow.name}: ${delivery.run.subject.title} (${runId})`));
      return true;
    },
  });
  const exit = exitOf(rest.run);
  await printPhases(io, rest.run);
  await printRest(io, rest, { stream: true, exit });
  return exit;
}

async function prepare(io: Io, flowName: string, text: string | undefined, options: RunOptions): Promise<RunPlan> {
  const flags = {
    ...(options.slots === undefined ? {} : { slots: options.slots }),
    ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
  };
  const config = await loadConfig({ environment: io.environment, project: io.cwd, flags });
  if (!config.ok) throw problemError(config.error, 2);
  const resolved = requireResolved(io, flowName);
  const task = await readTask(io, { text, ticket: options.ticket });
  const title = options.title ?? task.title;
  const id = options.id ?? task.id ?? randomUUID();
  if (!/^[^\s\p{C}]{1,200}$/u.test(id)) throw usageError("invalid_id", "--id: at most 200 characters, no spaces.");
  const { facts: given, warnings } = inputFacts(resolved.flow, options.input);
  for (const warning of warnings) io.err(`! ${plainText(warning)}`);
  const runners = runnersOf(resolved, options.agent, config.value.agents, io.cwd);
  const brought = await repositoryFiles(io.cwd);
  const facts: JsonObject = {
    ...given,
    ...(task.ticket === undefined ? {} : { ticket: { ...task.ticket, ...spaceOf(given, "ticket") } }),
    config: {
      ...spaceOf(given, "config"),
      project: io.cwd,
      workspace: workspaceOf(io, resolved, config.value),
      verdict_repair: config.value.verdictRepair.value,
      ...(config.value.runner.value === "none" ? {} : { runner: config.value.runner.value }),
      ...(config.value.model === null ? {} : { model: config.value.model }),
      repository_settings: config.value.repositorySettings.value,
      ...(brought.length === 0 ? {} : { repository_files: brought.map((file) => ({ ...file })) }),
    },
    runners: { ...runners },
  };
  requirePrograms(resolved, facts, `${title}\n${task.body}`);
  sayRepositoryFiles(io, brought, config.value.repositorySettings.value);
  const runId = `r${randomBytes(5).toString("hex")}`;
  return {
    runId,
    resolved,
    subject: { id, title, body: task.body },
    facts,
    flags: options.slots === undefined ? {} : { slots: options.slots },
  };
}

/** What the repository brings for agents' programs is code of others: people see it before they let a run begin. */
function sayRepositoryFiles(io: Io, files: readonly RepositoryFile[], on: boolean): void {
  if (files.length === 0 || io.quiet || io.json) return;
  const list = files.map(({ path }) => path).join(", ");
  io.err(
    plainText(
      on
        ? `! The repository brings settings for agents' programs, and they take effect (repository_settings: on): ${list}`
        : `The repository brings settings for agents' programs; they stay off: ${list}`,
    ),
  );
}

function requireResolved(io: Io, name: string): ResolvedFlow {
  const { catalog } = requireFlow(io, name);
  const resolved = catalog.resolve(name);
  if (!resolved.ok) throw flowError(name, resolved.error);
  return resolved.value;
}

/** The setting, else what the flow wants; without a repository a run can only work in place, and says so. */
function workspaceOf(io: Io, { flow }: ResolvedFlow, { workspace }: Config): "in-place" | "worktree" {
  const wanted =
    workspace.value === "by-flow" ? (flow.workspace.mode === "in-place" ? "in-place" : "worktree") : workspace.value;
  const cannot = wanted === "worktree" ? noWorktree(io.cwd) : undefined;
  if (cannot !== undefined && workspace.value === "worktree") {
    throw new CliError(
      cannot.code,
      `${cannot.message} A worktree needs a repository with a commit.`,
      "git init && git commit, or --workspace in-place",
    );
  }
  const mode = cannot === undefined ? wanted : "in-place";
  if (mode === "in-place" && !io.quiet && !io.json) {
    io.err(`${cannot === undefined ? "" : `${cannot.message} `}Agents work in ${io.cwd} itself, without a sandbox.`);
  }
  return mode;
}

function noWorktree(cwd: string): { readonly code: string; readonly message: string } | undefined {
  const git = (...args: string[]): string | undefined => {
    try {
      return execFileSync("git", ["-C", cwd, ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        timeout: 10_000,
      }).trim();
    } catch {
      return undefined;
    }
  };
  if (git("rev-parse", "--is-inside-work-tree") !== "true")
    return { code: "not_a_git_repository", message: `${cwd} is not a git repository.` };
  if (git("rev-parse", "--verify", "--quiet", "HEAD^{commit}") === undefined)
    return { code: "no_commit_yet", message: `The repository at ${cwd} has no commit yet.` };
  return undefined;
}

function spaceOf(facts: JsonObject, key: string): JsonObject {
  const value: Json | undefined = facts[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
