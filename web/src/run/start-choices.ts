// A person's choices for a start besides its task: runner and model per stage, workspace, and budget.

import type { WorkspaceMode } from "../../../src/core/flow/workspace-mode.ts";
import { shellWord } from "../../../src/core/shell-word.ts";

export type StartChoices = {
  /** Runners by stage, or `*` for all; only those that a person chose. */
  readonly agents: Readonly<Record<string, string>>;
  /** Models in the same way. */
  readonly models: Readonly<Record<string, string>>;
  readonly workspace: WorkspaceMode | "";
  /** As typed. */
  readonly usd: string;
  readonly tokens: string;
};

export const NO_CHOICES: StartChoices = { agents: {}, models: {}, workspace: "", usd: "", tokens: "" };

/** With this entry, or without it where the value is empty. */
export function withEntry(
  list: Readonly<Record<string, string>>,
  name: string,
  value: string,
): Readonly<Record<string, string>> {
  const { [name]: _before, ...others } = list;
  return value === "" ? others : { ...others, [name]: value };
}

type ChoicesBody = {
  readonly agents?: Record<string, string>;
  readonly models?: Record<string, string>;
  readonly workspace?: WorkspaceMode;
  readonly budget?: { readonly usd?: number; readonly tokens?: number };
};

/** As a start takes them. An amount that is none is left out: the form says so. */
export function choicesBody({ agents, models, workspace, usd, tokens }: StartChoices): ChoicesBody {
  const named = trimmed(models);
  const [dollars, count] = [amountOf(usd), amountOf(tokens)];
  const budget = { ...(isAmount(dollars) ? { usd: dollars } : {}), ...(isAmount(count) ? { tokens: count } : {}) };
  return {
    ...(Object.keys(agents).length === 0 ? {} : { agents: { ...agents } }),
    ...(Object.keys(named).length === 0 ? {} : { models: named }),
    ...(workspace === "" ? {} : { workspace }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
}

/** The same as flags of a command. */
export function choicesFlags(choices: StartChoices): string {
  const { agents = {}, models = {}, workspace, budget = {} } = choicesBody(choices);
  const flags = [
    ...Object.entries(agents).map(([name, runner]) => `--agent ${shellWord(`${name}=${runner}`)}`),
    ...Object.entries(models).map(([name, model]) => `--model ${shellWord(`${name}=${model}`)}`),
    ...(workspace === undefined ? [] : [`--workspace ${workspace}`]),
    ...(budget.usd === undefined ? [] : [`--usd ${budget.usd}`]),
    ...(budget.tokens === undefined ? [] : [`--tokens ${budget.tokens}`]),
  ];
  return flags.map((flag) => ` ${flag}`).join("");
}

/** The amounts that are none, by the field that the daemon would name. */
export function wrongAmounts({ usd, tokens }: StartChoices): Readonly<Record<string, string>> {
  const wrong = Object.entries({ usd, tokens }).filter(([, text]) => {
    const amount = amountOf(text);
    return amount !== undefined && !isAmount(amount);
  });
  return Object.fromEntries(wrong.map(([unit]) => [`/budget/${unit}`, "Enter an amount above 0, or nothing."]));
}

/** Undefined where nothing is typed. */
function amountOf(text: string): number | undefined {
  const typed = text.trim().replace(/^\$/u, "").replaceAll(/[,_ ]/gu, "");
  return typed === "" ? undefined : Number(typed);
}

function isAmount(amount: number | undefined): amount is number {
  return amount !== undefined && Number.isFinite(amount) && amount > 0;
}

function trimmed(list: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(list).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]])),
  );
}
