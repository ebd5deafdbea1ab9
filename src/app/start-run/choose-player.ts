// Chooses the runner of a run that a person starts without naming one: the first coding agent that is installed and
// logged in. A setting or a flag comes before it. Tickets, triggers and the API do not use it, because no person sees
// the choice.

import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { installText, playerText } from "../../core/view/player-text.ts";
import type { Detected } from "../../runner/detect.ts";
import { detectRunners } from "../../runner/detect-runners.ts";
import { type ReadyRunner, readyRunners } from "../../runner/ready.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";

/** `note`: who was chosen, why, and how to choose another. */
export type Player = ReadyRunner & { readonly note: string };

export async function choosePlayer(
  environment: Environment,
  project: string,
  settings: Pick<Settings, "programs" | "passEnvironment">,
): Promise<Result<Player>> {
  const detected = await detectRunners(environment, project, settings);
  const [first, ...others] = readyRunners(detected);
  if (first === undefined) return err(nobody(detected));
  return ok({ ...first, note: playerText(first, others) });
}

/** The settings as if they named this player: whatever a flow or an agent's file says still wins. */
export function playedBy(settings: Settings, { runner }: Player): Settings {
  return { ...settings, runner: { value: runner, from: "default" } };
}

function nobody(detected: readonly Detected[]): Problem {
  const isInstalled = detected.some(({ status }) => status === "found");
  return {
    code: "no_agent_ready",
    message: isInstalled ? "No coding agent is logged in." : "No coding agent is installed.",
    hint: installText(detected),
  };
}
