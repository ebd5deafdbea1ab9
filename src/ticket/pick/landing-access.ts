// Whether the finished work of a ticket could leave: the remote answers, and takes the login that a push or a pull request needs. Asked
// before a ticket starts, because its stages cost money and the last one would fail. An answer is used for a short while.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { ok, type Problem, type Result } from "../../core/result.ts";
import { wayToLand } from "../../core/ticket/merge-rule.ts";
import type { MergeSettings } from "../../settings/merge.ts";
import type { Environment } from "../../settings/site.ts";
import { forgeOfProject } from "../land/open.ts";

export type LandingQuestion = {
  readonly resolved: ResolvedFlow;
  /** The repository that agents work in. */
  readonly project: string;
  readonly mode: string;
  readonly isTerminal: boolean;
  readonly settings: Pick<MergeSettings, "forge" | "remote">;
  readonly ticketsFolder: string;
};

export type LandingAccess = {
  check(question: LandingQuestion): Promise<Result<null>>;
  /** The last answers that keep tickets from starting. */
  problems(): readonly Problem[];
};

export type LandingAccessOptions = {
  readonly home: string;
  readonly environment: Environment;
  readonly nowMs?: () => number;
};

const GOOD_FOR_MS = 60_000;
/** Many tickets of one round share a bad answer; a person who mended it does not wait long. */
const BAD_FOR_MS = 2000;

type Known = { readonly atMs: number; readonly answer: Promise<Result<null>> };

export function createLandingAccess({ home, environment, nowMs = Date.now }: LandingAccessOptions): LandingAccess {
  const known = new Map<string, Known>();
  const bad = new Map<string, Problem>();
  return {
    async check({ resolved, project, mode, isTerminal, settings, ticketsFolder }) {
      if (!landsWork(resolved)) return ok(null);
      const needs = wayToLand(resolved.flow.merge?.modes, mode, isTerminal) === "pr" ? "propose" : "push";
      const key = JSON.stringify([project, needs, settings.forge, settings.remote]);
      const earlier = known.get(key);
      const freshMs = bad.has(key) ? BAD_FOR_MS : GOOD_FOR_MS;
      if (earlier !== undefined && nowMs() - earlier.atMs < freshMs) return earlier.answer;
      const answer = ask(project, needs, { home, environment, settings, ticketsFolder });
      known.set(key, { atMs: nowMs(), answer });
      const said = await answer;
      if (said.ok) bad.delete(key);
      else bad.set(key, said.error);
      return said;
    },
    problems: () => [...bad.values()],
  };
}

function landsWork({ flow }: ResolvedFlow): boolean {
  return flow.stages.some((stage) => stage.kind === "builtin" && stage.agent === "land");
}

async function ask(
  project: string,
  needs: "push" | "propose",
  place: Parameters<typeof forgeOfProject>[1],
): Promise<Result<null>> {
  const forge = await forgeOfProject(project, place);
  return forge.ok ? forge.value.checkAccess(needs) : forge;
}
