// Loops are counted and capped here: one budget per run, or one per track. Counting never decides where a run goes.

import { type Draft, emit } from "./draft.ts";
import { fingerprint } from "./fingerprint.ts";
import { type Counter, MAIN_TRACK } from "../flow/flow.ts";
import { issueText, type Outcome } from "../flow/outcome.ts";

export type Counted = { readonly loops: number; readonly max: number | null };
export type SpentLoops = { readonly spent: string; readonly reason: string };

/** Counts one loop; when the budget is used up, or the same issues came too often in a row, says so and counts nothing. */
export function countLoop(draft: Draft, track: string, name: string, outcome: Outcome): Counted | SpentLoops {
  const counter = draft.flow.counters[name];
  if (counter === undefined) throw new Error(`flow ${draft.flow.name} has no counter ${name}`);
  const key = counterKey(counter, name, track);
  const state = draft.run.counters[key] ?? { loops: 0, streak: 0 };
  const issues = counter.sameIssues === null ? undefined : fingerprint(outcome.issues.map(issueText));
  const streak = issues === undefined ? 0 : issues === state.issues ? state.streak + 1 : 1;
  if (counter.maxLoops !== null && state.loops >= counter.maxLoops) {
    emit(draft, { type: "counter.spent", key, loops: state.loops, why: "limit" });
    return { spent: name, reason: `${name} is used up after ${counter.maxLoops} of ${counter.maxLoops} loops` };
  }
  if (counter.sameIssues !== null && streak >= counter.sameIssues) {
    emit(draft, { type: "counter.spent", key, loops: state.loops, why: "same-issues" });
    return { spent: name, reason: `the same issues came ${counter.sameIssues} times in a row` };
  }
  const loops = state.loops + 1;
  const seen = issues === undefined ? {} : { issues };
  emit(draft, { type: "counter.changed", key, from: state.loops, to: loops, streak, ...seen });
  for (const other of counter.resets) resetCounter(draft, other, track);
  return { loops, max: counter.maxLoops };
}

export function resetCounter(draft: Draft, name: string, track: string): void {
  const counter = draft.flow.counters[name];
  if (counter === undefined) return;
  const key = counterKey(counter, name, track);
  const state = draft.run.counters[key];
  if (state === undefined || (state.loops === 0 && state.streak === 0)) return;
  emit(draft, { type: "counter.changed", key, from: state.loops, to: 0, streak: 0 });
}

/** Counters of a track other than main carry its name; so each track has its own budget. */
export function counterKey(counter: Counter, name: string, track: string): string {
  return counter.scope === "track" && track !== MAIN_TRACK ? `${track}.${name}` : name;
}
