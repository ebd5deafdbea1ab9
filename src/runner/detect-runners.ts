// Looks for the programs that can play agents on this machine, each with the environment it would get for a stage.

import { PROGRAMS } from "../core/flow/agent-options.ts";
import type { Settings } from "../settings/settings.ts";
import type { Environment } from "../settings/site.ts";
import { detectRunner, type Detected } from "./detect.ts";
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
      const { command, env = {}, pass = [] } = programs[runner] ?? {};
      const names = [...runnerEnvironment(runner), ...passEnvironment, ...pass];
      return detectRunner(runner, childEnvironment(environment, env, names), {
        cwd: project,
        ...optional({ command }),
      });
    }),
  );
}
