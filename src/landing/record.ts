// Where a run's work is: what was approved, and what was seen of it afterwards. Read from the attempts, written into the report of whoever
// landed it; `commit` is what others can build on.

import type { Json, JsonObject } from "../core/json.ts";
import type { PullRequest } from "../forge/forge.ts";
import type { AttemptRecord } from "../store/store.ts";

/** How it left: pushed as a branch, landed in the target, proposed for somebody to merge, or seen to be merged. */
export type How = "push" | "land" | "pr" | "merged" | "forced";

export type Landed = {
  readonly commit: string;
  /** The commit that was approved, before it was put on top of others' work. */
  readonly approved: string;
  readonly branch: string;
  readonly target: string;
  readonly how: How;
  readonly pr: { readonly number: number | null; readonly url: string | null } | null;
};

export type Approved = { readonly branch: string; readonly commit: string };

/** The commit at which the run's last agent ended: what came to landing is what was judged there. */
export function approvedWork(attempts: readonly AttemptRecord[]): Approved | undefined {
  return attempts
    .filter(({ status, facts }) => status === "done" && isText(facts["to"]) && isText(facts["branch"]))
    .toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? -1 : 1))
    .map(({ facts }) => ({ branch: facts["branch"] as string, commit: facts["to"] as string }))
    .at(-1);
}

/** The newest record of the run. */
export function landedRecord(attempts: readonly AttemptRecord[]): Landed | undefined {
  return attempts
    .toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? -1 : 1))
    .flatMap(({ outcome }) => readLanded(outcome?.["payload"]))
    .at(-1);
}

export function landedPayload(landed: Landed, more: JsonObject = {}): JsonObject {
  return { ...more, landed: { ...landed, pr: landed.pr === null ? null : { ...landed.pr } } };
}

export function requestOf(landed: Landed): PullRequest {
  const { branch, target, approved, pr } = landed;
  return { number: pr?.number ?? null, url: pr?.url ?? null, branch, target, commit: approved };
}

function readLanded(payload: Json | undefined): Landed[] {
  const landed = objectOf(objectOf(payload)["landed"]);
  const { commit, approved, branch, target, how } = landed;
  if (!isText(commit) || !isText(branch) || !isText(target) || !isText(how)) return [];
  const pr = objectOf(landed["pr"]);
  const number = typeof pr["number"] === "number" ? pr["number"] : null;
  const url = isText(pr["url"]) ? pr["url"] : null;
  return [
    {
      commit,
      approved: isText(approved) ? approved : commit,
      branch,
      target,
      how: how as How,
      pr: landed["pr"] === null || landed["pr"] === undefined ? null : { number, url },
    },
  ];
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
