// The limits of one attempt: those of its stage, except where the settings of the project say otherwise. A team's lead may be silent for
// longer, while its teammates work.

import type { StageLimits } from "./flow.ts";

/** The limits of a stage in the settings; a missing one comes from the flow. */
export type AttemptLimitsFact = {
  readonly totalMs?: number;
  readonly idleMs?: number;
  readonly startupMs?: number;
  readonly permissionMs?: number;
  readonly questionMs?: number;
};

/** `said`: by stage, `*` for all. The nearer to the stage wins, key by key. */
export function attemptLimits(
  limits: StageLimits,
  isTeam: boolean,
  said: AttemptLimitsFact = {},
): Omit<StageLimits, "idleTeamMs"> {
  const { idleTeamMs, ...alone } = limits;
  const own = isTeam && idleTeamMs !== undefined ? { ...alone, idleMs: idleTeamMs } : alone;
  return { ...own, ...said };
}

export function limitsSaid(said: Readonly<Record<string, AttemptLimitsFact>>, stage: string): AttemptLimitsFact {
  return { ...said["*"], ...(Object.hasOwn(said, stage) ? said[stage] : {}) };
}
