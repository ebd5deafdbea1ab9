// Where a run begins: the commit of its repositories, the copies of its files, and the project's rules at that commit. All of it is fixed
// at the start, so that a person agrees to exactly what the stages get.

import type { Flow } from "../../core/flow/flow.ts";
import type { JsonObject } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { pinnedFacts } from "../../core/run/pinned.ts";
import type { Settings } from "../../settings/settings.ts";
import type { GivenFiles } from "./given-files.ts";
import {
  inspectRepositories,
  type PreflightException,
  preflightProblem,
  repositoryFacts,
  type RepositoryState,
  unseenFiles,
} from "./preflight.ts";
import { readProjectRules } from "./project-rules.ts";
import { planJoint } from "./several-repositories.ts";

export type Beginning = {
  readonly facts: JsonObject;
  /** The commit that the run's branch starts from, or the joint repository of several, for the facts of `config`. */
  readonly base: { readonly base?: string; readonly joint?: string };
  readonly texts: readonly string[];
  readonly warnings: readonly string[];
};

type StartPoint = {
  readonly flow: Flow;
  readonly project: string;
  readonly allow: readonly PreflightException[];
  /** The folder of joint repositories; undefined where a run has one repository. */
  readonly joints: string | undefined;
};

export async function beginAt(
  { flow, project, allow, joints }: StartPoint,
  config: Pick<Settings, "merge" | "standards">,
  given: Pick<GivenFiles, "files" | "folders"> & { readonly isInPlace: boolean },
): Promise<Result<Beginning>> {
  const { files, folders, isInPlace } = given;
  const checks = flow.preflight !== undefined || folders.length > 0;
  const states = checks ? await inspectRepositories(project, folders, config.merge.target) : ok([]);
  if (!states.ok) return states;
  const mergeMode = config.merge.mode.value;
  const joint = await planJoint({ flow, project, states: states.value, folders, files, isInPlace, mergeMode, joints });
  if (!joint.ok) return joint;
  const problem = preflightProblem(flow, states.value, allow);
  if (problem !== undefined) return err(problem);
  const own = states.value.find(({ dir }) => dir === ".");
  const rules =
    flow.bundles === undefined
      ? ok({ rules: [], warnings: [] })
      : await readProjectRules({
          project,
          commit: own?.commit ?? null,
          paths: flow.bundles.rules,
          standards: config.standards,
        });
  if (!rules.ok) return rules;
  const kept = [...files, ...rules.value.rules];
  const pinned = {
    inputs: files.map(({ name, path, sha256, bytes }) => ({ name, path, sha256, bytes })),
    rules: rules.value.rules.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })),
  };
  return ok({
    facts: {
      ...(states.value.length === 0 ? {} : { repositories: repositoryFacts(states.value) }),
      ...(kept.length === 0 ? {} : { pinned: pinnedFacts(pinned) }),
    },
    base: joint.value === null ? baseOf(flow.preflight, own) : { joint: joint.value },
    texts: kept.map(({ text }) => text),
    warnings: [...rules.value.warnings, ...unseenFiles(flow, states.value, allow)],
  });
}

/** A flow that checks its base begins at the commit that was checked, also if something else is checked out by then. */
function baseOf(preflight: readonly string[] | undefined, own: RepositoryState | undefined): Beginning["base"] {
  return preflight === undefined || own === undefined ? {} : { base: own.commit };
}
