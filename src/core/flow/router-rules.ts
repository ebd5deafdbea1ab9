// The router without a model: a few keyword rules choose the agents, and say which rule fired and why.

import type { RoutedStage } from "./outcome.ts";
import { optional } from "../optional.ts";

export type RuleChoice = {
  readonly rule: string;
  /** The word of the task that made it fire. */
  readonly why: string;
  readonly stages: readonly RoutedStage[];
};

/** One rule as it looks at a task: it fires, or it says what it looked for. */
export type RuleLook = {
  readonly rule: string;
  readonly looksFor: string;
  /** Undefined if it does not fire. */
  readonly why?: string;
  readonly stages: readonly RoutedStage[];
};

const RESEARCH_WORDS = ["research", "investigate", "compare", "evaluate", "explore", "find out"];
const SMALL_WORDS = ["fix", "typo", "rename", "bump", "correct", "spelling", "wording"];
const JOINING_WORDS = new Set(["and", "then", "also", "with", "plus", "including"]);
const MANY_PARTS = 4;

export function chooseByRules(task: string): RuleChoice {
  const fired = lookAtRules(task).find(({ why }) => why !== undefined);
  if (fired?.why === undefined) throw new Error("the last rule fires for every task");
  return { rule: fired.rule, why: fired.why, stages: fired.stages };
}

/** Every rule in order; the first that fires counts. */
export function lookAtRules(task: string): readonly RuleLook[] {
  const words = task.toLowerCase().split(/[^a-z]+/u);
  const text = words.join(" ");
  const said = (list: readonly string[]): string | undefined => {
    const word = list.find((each) => (each.includes(" ") ? text.includes(each) : words.includes(each)));
    return word === undefined ? undefined : `the task says "${word}"`;
  };
  const parts = words.filter((word) => JOINING_WORDS.has(word)).length;
  const many = parts >= MANY_PARTS ? `the task joins parts ${parts} times` : undefined;
  return [
    look("research", `one of: ${RESEARCH_WORDS.join(", ")}`, said(RESEARCH_WORDS), [
      "scout",
      "architect",
      "builder",
      "reviewer",
    ]),
    look("small-change", `one of: ${SMALL_WORDS.join(", ")}`, said(SMALL_WORDS), ["builder", "reviewer"]),
    look(
      "many-parts",
      `${MANY_PARTS} of: ${[...JOINING_WORDS].join(", ")}`,
      many,
      ["architect", "builder", "reviewer"],
      "builder",
    ),
    look("default", "nothing", "no other rule fits", ["architect", "builder", "reviewer"]),
  ];
}

function look(
  rule: string,
  looksFor: string,
  why: string | undefined,
  agents: readonly string[],
  team?: string,
): RuleLook {
  const stages = agents.map((agent) => ({ agent, teams: agent === team }));
  return { rule, looksFor, ...optional({ why }), stages };
}
