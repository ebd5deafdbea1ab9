// A program that is not on this machine refuses a run that a person starts, before anything is stored: afterwards only an escalation could
// say so.

import { isAbsolute } from "node:path";
import { nearest } from "../../core/check/suggest.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { PROGRAMS } from "../../core/flow/runner-names.ts";
import { runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Problem } from "../../core/result.ts";
import { installOf } from "../../runner/detect.ts";
import { findProgram } from "../../runner/process/find-program.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { candidates } from "./runners.ts";

type Machine = {
  readonly environment: Environment;
  readonly project: string;
  readonly config: Pick<Settings, "programs">;
};

/** The first stage that could not start. */
export function absentProgram(
  resolved: ResolvedFlow,
  facts: JsonObject,
  task: string,
  { environment, project, config }: Machine,
): Problem | undefined {
  const working = candidates(resolved, facts, task);
  for (const stage of working.ok ? working.value : []) {
    const choice = runnerChoiceOf(resolved, facts, stage);
    if (choice === undefined || choice.runner === "outside") continue;
    const own = config.programs[choice.runner]?.command;
    const [program] = choice.command ?? own ?? [choice.runner];
    // A path inside the workspace may be the work of an earlier stage.
    if (program === undefined || (program.includes("/") && !isAbsolute(program))) continue;
    const path = environment["PATH"] ?? "";
    const found = findProgram({ argv: [program], cwd: project, env: { PATH: path } });
    if (found.ok) continue;
    const install = choice.command === null && own === undefined ? installOf(choice.runner) : undefined;
    return {
      code: "program_missing",
      message: `The stage ${stage.id} cannot start: ${found.error.detail}`,
      hint: [install ?? meant(program), "passrail agent list   shows what is installed and logged in"].join("\n"),
    };
  }
  return undefined;
}

function meant(program: string): string {
  const near = nearest(program, PROGRAMS);
  return near === undefined ? "Install it, or give another program: --agent '*=COMMAND'" : `did you mean "${near}"?`;
}
