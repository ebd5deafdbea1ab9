// A program that is missing or logged out refuses a start, a ticket or a retry before anything is stored: afterwards only an escalation could say
// so, perhaps hours and a gate later. It looks without asking a vendor.

import { isAbsolute } from "node:path";
import { nearest } from "../../core/check/suggest.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { WorkStage } from "../../core/flow/flow.ts";
import { PROGRAMS } from "../../core/flow/runner-names.ts";
import { type RunnerChoice, runnerLadder } from "../../core/flow/runner-choice.ts";
import type { WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem } from "../../core/result.ts";
import { installOf } from "../../runner/detect.ts";
import { missingLogins } from "../../runner/detect-runners.ts";
import { findProgram } from "../../runner/process/find-program.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";

export type Machine = {
  /** Of the process that performs. */
  readonly environment: Environment;
  readonly project: string;
  readonly mode: WorkspaceMode;
  /** False: a command that the settings name may be missing now, because its stage may never be reached. */
  readonly checksCommands?: boolean;
  readonly config: Pick<Settings, "programs" | "passEnvironment" | "workers">;
};

/** Their agents use the programs and the logins of an image, not those of this machine. */
const HAS_OWN_PROGRAMS: ReadonlySet<WorkspaceMode> = new Set(["docker", "podman", "daytona"]);

/** The first of these stages that could not start. A ladder needs one program that is ready; workers have their own, and say so themselves. */
export async function unreadyProgram(
  resolved: ResolvedFlow,
  facts: JsonObject,
  stages: readonly WorkStage[],
  machine: Machine,
): Promise<Problem | undefined> {
  if (HAS_OWN_PROGRAMS.has(machine.mode)) return undefined;
  const played = stages.flatMap((stage) => {
    const rungs = runnerLadder(resolved, facts, stage).filter(({ runner }) => runner !== "outside");
    const isElsewhere =
      machine.config.workers.place === "workers-only" && rungs.some(({ command }) => command === null);
    return rungs.length === 0 || isElsewhere ? [] : [{ stage: stage.id, rungs }];
  });
  for (const { stage, rungs } of played) {
    const absent = rungs.map((choice) => absentProgram(stage, choice, machine));
    if (!absent.includes(undefined)) return absent[0];
  }
  const asked = new Map<string, Promise<Problem | undefined>>();
  for (const { stage, rungs } of played) {
    const out = await allOut(stage, rungs, machine, asked);
    if (out !== undefined) return out;
  }
  return undefined;
}

/** Why no rung of a stage is ready; each program is asked once. */
async function allOut(
  stage: string,
  rungs: readonly RunnerChoice[],
  machine: Machine,
  asked: Map<string, Promise<Problem | undefined>>,
): Promise<Problem | undefined> {
  let first: Problem | undefined;
  for (const choice of rungs) {
    if (choice.command !== null) return undefined;
    const absent = absentProgram(stage, choice, machine);
    const out = asked.get(choice.runner) ?? (absent === undefined ? loggedOut(stage, choice, machine) : undefined);
    if (out !== undefined) asked.set(choice.runner, out);
    const problem = absent ?? (await out);
    if (problem === undefined) return undefined;
    first ??= problem;
  }
  return first;
}

function absentProgram(
  stage: string,
  choice: RunnerChoice,
  { environment, project, config, checksCommands = true }: Machine,
): Problem | undefined {
  if (choice.runner === "outside" || (choice.command !== null && !checksCommands)) return undefined;
  const own = config.programs[choice.runner];
  const [program] = choice.command ?? own?.command ?? [choice.runner];
  // A path inside the workspace may be the work of an earlier stage.
  if (program === undefined || (program.includes("/") && !isAbsolute(program))) return undefined;
  const path = own?.env["PATH"] ?? environment["PATH"] ?? "";
  const found = findProgram({ argv: [program], cwd: project, env: { PATH: path } });
  if (found.ok) return undefined;
  const install = choice.command === null && own?.command === undefined ? installOf(choice.runner) : undefined;
  return {
    code: "program_missing",
    message: `The stage ${stage} cannot start: ${found.error.detail}`,
    hint: [install ?? meant(program), "passrail agent list   shows what is installed and logged in"].join("\n"),
    field: `agents/${stage}`,
  };
}

/** A program that the operator names may need no login. */
async function loggedOut(
  stage: string,
  { runner }: RunnerChoice,
  { environment, project, config }: Machine,
): Promise<Problem | undefined> {
  if (runner === "outside") return undefined;
  const [line] = await missingLogins([runner], environment, project, config);
  if (line === undefined) return undefined;
  return {
    code: "not_logged_in",
    message: `The stage ${stage} cannot start: ${line}`,
    hint: `If it needs no login, say so in passrail.yaml: runners: { ${runner}: { command: [${runner}] } }`,
    field: `agents/${stage}`,
  };
}

function meant(program: string): string {
  const near = nearest(program, PROGRAMS);
  return near === undefined ? "Install it, or give another program: --agent '*=COMMAND'" : `did you mean "${near}"?`;
}
