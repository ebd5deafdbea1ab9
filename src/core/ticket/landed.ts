// Where a run's work went, as recorded by the stage that delivered it. Only Passrail's own reports count: an agent can write anything into
// its payload.

import { attemptFacts } from "../attempt-facts.ts";
import type { Json, JsonObject } from "../json.ts";
import { optional } from "../optional.ts";

/** How it left: pushed as a branch, landed in the target, proposed as a pull request, or seen to be merged. */
export type How = "push" | "land" | "pr" | "merged" | "forced";

export type Landed = {
  /** The commit that others can build on. */
  readonly commit: string;
  /** The approved commit, before it was combined with others' work. */
  readonly approved: string;
  readonly branch: string;
  readonly target: string;
  readonly how: How;
  readonly pr: { readonly number: number | null; readonly url: string | null } | null;
  /** Where each of several repositories has its part; the commits above are those of the joint repository then. */
  readonly repositories?: readonly LandedMember[];
};

export type LandedMember = { readonly dir: string; readonly target: string; readonly commit: string };

/** The part of an attempt that this module reads. */
type ReportedAttempt = {
  readonly endedAt: string | null;
  readonly outcome: JsonObject | null;
  readonly facts: JsonObject;
};

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/u;

/** The newest record counts: work that was sent back and landed again is where it landed last. */
export function landedRecord(attempts: readonly ReportedAttempt[]): Landed | undefined {
  return attempts
    .filter((attempt) => attemptFacts(attempt).runner === null)
    .toSorted((one, other) => ((one.endedAt ?? "") < (other.endedAt ?? "") ? -1 : 1))
    .flatMap(({ outcome }) => readLanded(outcome?.["payload"]))
    .at(-1);
}

/** Repositories in which work landed before another one could not; by the newest attempt that says so. */
export function landedPart(
  attempts: readonly (Pick<ReportedAttempt, "facts"> & Partial<Pick<ReportedAttempt, "outcome">>)[],
): readonly LandedMember[] {
  const own = attempts.filter((attempt) => attemptFacts(attempt).runner === null);
  const found = own.map(({ outcome }) => membersIn(objectOf(outcome?.["payload"])[PART]).repositories);
  return found.findLast((members) => members !== undefined) ?? [];
}

const PART = "landed_part";

export function partPayload(members: readonly LandedMember[]): JsonObject {
  return { [PART]: members.map((each) => ({ ...each })) };
}

export function landedPayload(landed: Landed, more: JsonObject = {}): JsonObject {
  const { repositories, ...rest } = landed;
  const members = repositories?.map((each) => ({ ...each }));
  return {
    ...more,
    landed: { ...rest, pr: landed.pr === null ? null : { ...landed.pr }, ...optional({ repositories: members }) },
  };
}

function readLanded(payload: Json | undefined): Landed[] {
  const landed = objectOf(objectOf(payload)["landed"]);
  const { commit, approved, branch, target, how } = landed;
  if (!isText(commit) || !COMMIT.test(commit) || !isText(branch) || !isText(target) || !isText(how)) return [];
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
      ...membersIn(landed["repositories"]),
    },
  ];
}

function membersIn(value: Json | undefined): Pick<Landed, "repositories"> {
  if (!Array.isArray(value)) return {};
  const repositories = (value as readonly Json[]).map(objectOf).flatMap(({ dir, target, commit }) => {
    return isText(dir) && isText(target) && isText(commit) && COMMIT.test(commit) ? [{ dir, target, commit }] : [];
  });
  return { repositories };
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
