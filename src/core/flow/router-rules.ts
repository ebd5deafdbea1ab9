// The router without a model: a few keyword rules choose the agents and report which rule fired.

import type { RoutedStage } from "./outcome.ts";

export type RuleChoice = { readonly rule: string; readonly stages: readonly RoutedStage[] };

const RESEARCH_WORDS = ["research", "investigate", "compare", "evaluate", "explore", "find out"];
const SMALL_WORDS = ["fix", "typo", "rename", "bump", "correct", "spelling", "wording"];
const JOINING_WORDS = new Set(["and", "then", "also", "with", "plus", "including"]);
const MANY_PARTS = 4;

export function chooseByRules(task: string): RuleChoice {
  const words = task.toLowerCase().split(/[^a-z]+/u);
  const text = words.join(" ");
  const has = (list: readonly string[]) =>
    list.some((word) => (word.includes(" ") ? text.includes(word) : words.includes(word)));
  if (has(RESEARCH_WORDS)) return choice("research", ["scout", "architect", "builder", "reviewer"]);
  if (has(SMALL_WORDS)) return choice("small-change", ["builder", "reviewer"]);
  const parts = words.filter((word) => JOINING_WORDS.has(word)).length;
  if (parts >= MANY_PARTS) return choice("many-parts", ["architect", "builder", "reviewer"], "builder");
  return choice("default", ["architect", "builder", "reviewer"]);
}

function choice(rule: string, agents: readonly string[], team?: string): RuleChoice {
  return { rule, stages: agents.map((agent) => ({ agent, teams: agent === team })) };
}
