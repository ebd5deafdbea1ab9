// Loops are counted and capped here: one budget per run, per track, or per stage that counts. Counting never decides where a run goes.

import { type Draft, emit } from "./draft.ts";
import { fingerprint } from "./fingerprint.ts";
import { type Counter, MAIN_TRACK } from "../flow/flow.ts";
import { issueText, type Outcome } from "../flow/outcome.ts";
import { spentText } from "./spent-text.ts";

/** Who counts: a budget may belong to the track or to the stage. */
export type Place = { readonly track: string; readonly stage: string };

export type Counted = { readonly loops: number; readonly max: number | null };
export type SpentLoops = { readonly spent: string; readonly reason: string };

/** Counts one loop; when the budget is used up, or the same issues came too often in a row, says so and counts nothing. */
export function countLoop(draft: Draft, place: Place, name: string, outcome: Outcome): Counted | SpentLoops {
  const counter = draft.flow.counters[name];
  if (counter === undefined) throw new Error(`flow ${draft.flow.name} has no counter ${name}`);
  const key = counterKey(counter, name, place);
  const state = draft.run.counters[key] ?? { loops: 0, streak: 0 };
  const issues = counter.sameIssues === null ? undefined : fingerprint(outcome.issues.map(issueText));
  const streak = issues === undefined ? 0 : issues === state.issues ? state.streak + 1 : 1;
  if (counter.maxLoops !== null && state.loops >= counter.maxLoops) {
    emit(draft, { type: "counter.spent", key, loops: state.loops, why: "limit" });
    return { spent: name, reason: spentText(name, counter.maxLoops) };
  }
  if (counter.sameIssues !== null && streak >= counter.sameIssues) {
    emit(draft, { type: "counter.spent", key, loops: state.loops, why: "same-issues" });
    return { spent: name, reason: `the same issues came ${counter.sameIssues} times in a row` };
  }
  const loops = state.loops + 1;
  const seen = issues === undefined ? {} : { issues };
  emit(draft, { type: "counter.changed", key, from: state.loops, to: loops, streak, ...seen });
  for (const other of counter.resets) resetCounter(draft, other, place);
  return { loops, max: counter.maxLoops };
}

/** Whether the next loop would be one too many. */
export function isAtLimit({ flow, run }: Pick<Draft, "flow" | "run">, place: Place, name: string): boolean {
  const counter = flow.counters[name];
  if (counter === undefined || counter.maxLoops === null) return false;
  return (run.counters[counterKey(counter, name, place)]?.loops ?? 0) >= counter.maxLoops;
}

export function resetCounter(draft: Draft, name: string, place: Place): void {
  const counter = draft.flow.counters[name];
  if (counter === undefined) return;
  const key = counterKey(counter, name, place);
  const state = draft.run.counters[key];
  if (state === undefined || (state.loops === 0 && state.streak === 0)) return;
  emit(draft, { type: "counter.changed", key, from: state.loops, to: 0, streak: 0 });
}

/** Counters of a track other than main, or of a stage, carry its name; so each has its own budget. */
export function counterKey({ scope }: Pick<Counter, "scope">, name: string, { track, stage }: Place): string {
  if (scope === "stage") return `${stage}.${name}`;
  return scope === "track" && track !== MAIN_TRACK ? `${track}.${name}` : name;
}
