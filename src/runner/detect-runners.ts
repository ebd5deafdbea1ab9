// Looks for the programs that can play agents on this machine, each with the environment it would get for a stage.

import type { ProgramName } from "../core/flow/agent-options.ts";
import { PROGRAMS } from "../core/flow/runner-names.ts";
import type { Settings } from "../settings/settings.ts";
import type { Environment } from "../settings/site.ts";
import { detectRunner, type Detected, loginLine } from "./detect.ts";
import { childEnvironment, runnerEnvironment } from "./process/environment.ts";
import { optional } from "../core/optional.ts";

export async function detectRunners(
  environment: Environment,
  project: string,
  { programs, passEnvironment }: Pick<Settings, "programs" | "passEnvironment">,
): Promise<readonly Detected[]> {
  const shown = PROGRAMS.filter(
    (runner) => (runner !== "acp" && runner !== "command") || programs[runner] !== undefined,
  );
  return Promise.all(
    shown.map((runner) => {
      const command = programs[runner]?.command;
      const own = environmentOf(runner, environment, { programs, passEnvironment });
      return detectRunner(runner, own, { cwd: project, ...optional({ command }) });
    }),
  );
}

/** A line for each of these runners whose own program is missing or not logged in. An operator's program may need no login. */
export async function missingLogins(
  runners: readonly ProgramName[],
  environment: Environment,
  project: string,
  config: Pick<Settings, "programs" | "passEnvironment">,
): Promise<readonly string[]> {
  const asked = runners.filter((runner) => config.programs[runner]?.command === undefined);
  const lines = await Promise.all(
    asked.map((runner) => loginLine(runner, environmentOf(runner, environment, config), project)),
  );
  return lines.filter((line) => line !== undefined);
}

function environmentOf(
  runner: ProgramName,
  environment: Environment,
  { programs, passEnvironment }: Pick<Settings, "programs" | "passEnvironment">,
): Record<string, string> {
  const { env = {}, pass = [] } = programs[runner] ?? {};
  return childEnvironment(environment, env, [...runnerEnvironment(runner), ...passEnvironment, ...pass]);
}
