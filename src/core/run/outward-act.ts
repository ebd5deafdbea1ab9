// Acts on what others see: a push, a pull request, a merge, a deleted branch, the undoing of one, the discard of a branch. Each is stored as
// an intent before it is performed, and closed with what was seen afterwards. outward-rules.ts decides, outward.ts says what follows for people.

export type OutwardVerb = "push" | "propose" | "merge" | "delete-branch" | "undo" | "discard";

export type OutwardIntent = {
  /** Unique within the run. */
  readonly key: string;
  readonly verb: OutwardVerb;
  /** The branch that holds the work. */
  readonly branch: string;
  /** The branch that the work goes into; empty for a discard. */
  readonly target: string;
  readonly commit: string;
  /** The commit of the target before a merge; null for other acts. */
  readonly before: string | null;
  /** Its folder in the project, for a run over several repositories. */
  readonly repository?: string;
};

/** The state of the remote after the act. `commit` differs from the intent's one for an undo. */
export type OutwardSight =
  | {
      readonly result: "done";
      readonly commit: string;
      readonly number: number | null;
      readonly url: string | null;
      /** After a discard: the ref that still holds the commit. */
      readonly keptAs?: string;
    }
  | { readonly result: "not-done"; readonly why: string };

export type DoneSight = Omit<OutwardSight & { readonly result: "done" }, "result">;

/** An act of the run whose end is not stored, or whose effect outlived its attempt. */
export type OutwardAct = OutwardIntent & {
  /** The attempt that performs it; an empty stage if none does. */
  readonly stage: string;
  readonly attempt: number;
  readonly intendedAt: string;
  /** Absent until the outcome is known. */
  readonly seen?: DoneSight;
};

/** How the acts of a run change with a sight: one that is not done, or whose effect needs no memory, is dropped. */
export function withSight(acts: readonly OutwardAct[], key: string, sight: OutwardSight): readonly OutwardAct[] {
  const act = acts.find((each) => each.key === key);
  const others = acts.filter((each) => each.key !== key);
  if (act === undefined || sight.result === "not-done" || act.verb === "delete-branch") return others;
  const { result: _result, ...seen } = sight;
  const { verb, branch, target, repository } = act;
  const isSamePlace = (each: OutwardAct): boolean => each.branch === branch && each.repository === repository;
  const isReplaced = (each: OutwardAct): boolean =>
    each.seen !== undefined && each.verb === verb && each.target === target && isSamePlace(each);
  return [...others.filter((each) => !isReplaced(each)), { ...act, seen }];
}
