// How finished work leaves, from a flow's `merge.modes`: one word, or one of two, depending on whether other tickets build on this one.

export const MERGE_WAYS = ["pr", "push", "land"] as const;
/** pr: opens a pull request. push: pushes the branch and leaves it a branch. land: merges it into the target at once. */
export type MergeWay = (typeof MERGE_WAYS)[number];

const DEFAULT_WAYS: Readonly<Record<string, MergeWay>> = { auto: "pr", merge: "land", pr: "pr" };

/** The way that the mode means in a flow; `modes` is absent if the flow has none. Undefined for an unknown mode or rule. */
export function wayToLand(
  modes: Readonly<Record<string, string>> | undefined,
  mode: string,
  isTerminal: boolean,
): MergeWay | undefined {
  const rule = modes === undefined ? DEFAULT_WAYS[mode] : modes[mode];
  return rule === undefined ? undefined : mergeWay(rule, isTerminal);
}

/** Undefined for an unknown rule. */
export function mergeWay(rule: string, isTerminal: boolean): MergeWay | undefined {
  const [first = "", condition, second] = rule.split(/ if terminal( )else /u);
  const chosen = condition === undefined || isTerminal ? first : (second ?? "");
  return MERGE_WAYS.find((way) => way === chosen);
}
