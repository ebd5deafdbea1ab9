// The runs behind a number: which ones the address picks.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type ResultRow = AnswerTo<"insights">["results"]["runs"][number];

type Rule = { readonly title: (value: string) => string; readonly has: (run: ResultRow, value: string) => boolean };

const RULES: Readonly<Record<string, Rule>> = {
  day: { title: (day) => `Runs that began on ${day}`, has: (run, day) => run.day === day },
  agent: { title: (name) => `Runs in which ${name} worked`, has: ({ agents }, name) => agents.includes(name) },
  stage: { title: (name) => `Runs with the stage ${name}`, has: ({ stages }, name) => stages.includes(name) },
  flow: { title: (name) => `Runs of ${name}`, has: ({ flow }, name) => flow === name },
  runner: { title: (name) => `Runs played by ${name}`, has: ({ runners }, name) => runners.includes(name) },
  model: { title: (name) => `Runs with the model ${name}`, has: ({ models }, name) => models.includes(name) },
  ticket: { title: (name) => `Runs of ${name}`, has: ({ ticket }, name) => ticket === name },
  first: {
    title: (value) => (value === "yes" ? "Completed at the first try" : "Completed after work was sent back"),
    has: ({ status, loops }, value) => status === "completed" && (loops === 0) === (value === "yes"),
  },
  landed: { title: () => "Runs of tickets that landed", has: ({ landed }) => landed },
  looped: { title: () => "Runs whose work was sent back", has: ({ loops }) => loops > 0 },
};

export type Picked = { readonly title: string; readonly runs: readonly ResultRow[] };

/** `agent=IN2`; undefined if it names no rule. */
export function pickedRuns(pick: string | undefined, runs: readonly ResultRow[]): Picked | undefined {
  const at = pick?.indexOf("=") ?? -1;
  if (pick === undefined || at < 0) return undefined;
  const [key, value] = [pick.slice(0, at), pick.slice(at + 1)];
  const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
  if (rule === undefined) return undefined;
  const tickets = new Set(runs.filter(({ landed }) => landed).map(({ ticket }) => ticket));
  const has = key === "landed" ? (run: ResultRow) => tickets.has(run.ticket) : (run: ResultRow) => rule.has(run, value);
  return { title: rule.title(value), runs: runs.filter(has) };
}
