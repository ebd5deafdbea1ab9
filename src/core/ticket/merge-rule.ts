// How finished work leaves, as a flow's `merge.modes` says it: one word, or one of two picked by whether other tickets build on this one.

export const MERGE_WAYS = ["pr", "push", "land"] as const;
/** pr: a pull request is opened. push: the branch is pushed and stays a branch. land: it comes into the target at once. */
export type MergeWay = (typeof MERGE_WAYS)[number];

/** Undefined where the rule is not understood. */
export function mergeWay(rule: string, isTerminal: boolean): MergeWay | undefined {
  const [first = "", condition, second] = rule.split(/ if terminal( )else /u);
  const chosen = condition === undefined || isTerminal ? first : (second ?? "");
  return MERGE_WAYS.find((way) => way === chosen);
}
