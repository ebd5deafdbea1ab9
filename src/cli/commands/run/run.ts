// `run FLOW "text"`: plans a run, starts it and follows it until it stops or needs a person.

import { randomUUID } from "node:crypto";
import { loadSettings } from "../../../settings/load.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { runIdOf } from "../../../app/run-id.ts";
import { prepareRun } from "../../../app/start-run/prepare.ts";
import { startDetached } from "./detach.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { printPhases, printRest } from "../../report.ts";
import type { CommandPlan } from "./run-plan.ts";
import { readPairs } from "../../input-pairs.ts";
import { exitOf, workOn } from "../../session.ts";
import { readTask } from "../../task-text.ts";
import { flowError, requireFlow } from "../flow/catalog.ts";
import { optional } from "../../../core/optional.ts";

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
  const plan = await planRun(io, flowName, text, options);
  if (!options.detach) return startRun(io, plan);
  // A daemon performs the run; only without one does it need a background process.
  return findDaemon(io.home) === undefined ? startDetached(io, plan) : startRun(io, plan, "leave");
}

export async function startRun(io: Io, plan: CommandPlan, then: "follow" | "leave" = "follow"): Promise<number> {
  const { runId, resolved, flags } = plan;
  if (io.quiet && !io.json) io.out(runId);
  const rest = await workOn(io, {
    runId,
    flags,
    follow: then === "follow",
    stream: then === "follow",
    lines: "err",
    act: async ({ app, store, person }) => {
      const started = await app.startRun(plan, person);
      if (!started.ok) throw problemError(started.error);
      const [summary] = await store.findRuns(runId);
      if (!io.json && !io.quiet)
        io.err(
          plainText(`#${summary?.number ?? "?"} ${resolved.flow.name}: ${started.value.run.subject.title} (${runId})`),
        );
      return true;
    },
  });
  const exit = then === "leave" ? EXIT.ok : exitOf(rest.run);
  if (then === "follow") await printPhases(io, rest.run);
  await printRest(io, rest, {
    stream: then === "follow",
    exit,
    ...(then === "leave" ? { did: `started ${runId}` } : {}),
  });
  return exit;
}

/** Everything that can be checked before anything is stored. */
export async function planRun(
  io: Io,
  flowName: string,
  text: string | undefined,
  options: Omit<RunOptions, "detach">,
): Promise<CommandPlan> {
  const flags = {
    ...optional({ slots: options.slots, workspace: options.workspace }),
  };
  const config = await loadSettings({ environment: io.environment, project: io.cwd, flags });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const resolved = requireResolved(io, flowName);
  const task = await readTask(io, { text, ticket: options.ticket });
  const id = options.id ?? task.id ?? randomUUID();
  if (!/^[^\s\p{C}]{1,200}$/u.test(id)) throw usageError("invalid_id", "--id: at most 200 characters, no spaces.");
  const subject = { id, title: options.title ?? task.title, body: task.body };
  const prepared = await prepareRun(
    {
      resolved,
      subject,
      project: io.cwd,
      cwd: io.cwd,
      input: readPairs(options.input),
      runners: options.agent,
      ...optional({ ticket: task.ticket }),
    },
    config.value,
  );
  if (!prepared.ok) throw problemError(prepared.error, TYPED_WRONG.has(prepared.error.code) ? EXIT.usage : EXIT.error);
  const { facts, warnings, notes } = prepared.value;
  for (const warning of warnings) io.err(`! ${plainText(warning)}`);
  if (!io.quiet && !io.json) for (const note of notes) io.err(plainText(note));
  return {
    runId: runIdOf(),
    resolved,
    subject,
    facts,
    flags: options.slots === undefined ? {} : { slots: options.slots },
  };
}

/** The words of the command itself are wrong, not what they are about. */
const TYPED_WRONG: ReadonlySet<string> = new Set([
  "agent_invalid",
  "command_empty",
  "command_must_be_list",
  "command_quote_open",
  "input_reserved",
  "invalid_input",
]);

function requireResolved(io: Io, name: string): ResolvedFlow {
  const { catalog } = requireFlow(io, name);
  const resolved = catalog.resolve(name);
  if (!resolved.ok) throw flowError(name, resolved.error);
  return resolved.value;
}
