// The present state of a run, in one table for every page and command: an attempt works, it waits (for you, for an
// agent outside, for a merge), it is held until a time, it is in line, or it has ended. "Working" only where an attempt
// works.

import type { ResolvedFlow } from "../flow/agent.ts";
import { isPlayedOutside } from "../flow/runner-choice.ts";
import { causeText } from "../run/postponement.ts";
import { openItems, type Run, type Track } from "../run/run.ts";
import { findWork } from "../run/sequence.ts";
import { overLimit } from "./over-limit.ts";
import { waitingMerge } from "../run/waiting-merge.ts";
import { type RunStateName, STATE_WORDS } from "./state-words.ts";
import { takenText } from "./taken-over.ts";
import { waitText } from "./wait-text.ts";

export type ShownState = {
  readonly is: RunStateName;
  /** Who does what, or what it waits for; empty where the word says it all. */
  readonly text: string;
  /** Held until then; ISO 8601, UTC. */
  readonly until: string | null;
};

/** `now`: milliseconds. */
export function runState(resolved: ResolvedFlow, run: Run, now: number): ShownState {
  if (run.status === "stopped") return state("stopped", run.reason);
  if (run.status === "canceled") return state("canceled", run.reason);
  if (run.status === "completed") return state("completed", "");
  const places = Object.entries(run.tracks).map(([name, track]) => placeOf(resolved, run, name, track, now));
  const found = places.filter((place) => place !== undefined);
  const taken = takenText(run);
  if (taken !== undefined) return state("taken", taken);
  if (run.paused) return pausedState(found);
  if (run.status === "waiting") return waitingState(run);
  const [first] = found.toSorted((one, other) => ORDER.indexOf(one.is) - ORDER.indexOf(other.is));
  if (first === undefined) return openItems(run).length > 0 ? waitingState(run) : state("queued", "");
  const texts = found.filter(({ is }) => is === first.is).map(({ text }) => text);
  return { ...first, text: texts.join(", ") };
}

/** The status of a run for people: of an open one what is true now, because "running" runs may wait for a slot, a time or a merge. */
export function statusText(resolved: ResolvedFlow, run: Run, now: number): string {
  return run.status === "running" ? STATE_WORDS[runState(resolved, run, now).is].toLowerCase() : run.status;
}

/** Of several tracks the most active one gives the word. */
const ORDER: readonly RunStateName[] = ["waiting", "working", "queued", "outside", "merging", "held"];

function placeOf(resolved: ResolvedFlow, run: Run, name: string, track: Track, now: number): ShownState | undefined {
  if (track.at !== "running" && track.at !== "ready") return undefined;
  const { stage, attempt } = track;
  const work = findWork(resolved.flow, run, name, stage);
  const who = work?.shownAgent ?? "an agent";
  const merge = waitingMerge(resolved, run);
  if (merge?.stage === stage) return state("merging", `${stage} waits until the work is merged`);
  if (track.at === "running" && track.outside === true) return state("outside", `${who} works on ${stage} outside`);
  if (track.at === "running" && track.asks !== undefined)
    return state(
      "waiting",
      `${who} asks ${track.asks.kind === "question" ? "a question" : "for permission"} on ${stage} #${attempt}, ${track.asks.who}`,
    );
  if (track.at === "running") return state("working", `${who} works on ${stage} #${attempt}`);
  if (work !== undefined && isPlayedOutside(resolved, run.facts, work))
    return state("outside", `${stage} waits for ${who} to take it`);
  const { notBefore, because, runner } = track;
  if (notBefore === undefined || Date.parse(notBefore) <= now)
    return state("queued", `${stage} #${attempt} is in line`);
  const cause = because === undefined ? "" : runner === undefined ? causeText(because) : overLimit(runner, because);
  const why = cause === "" ? "" : `: ${cause}`;
  return { is: "held", text: `${stage} #${attempt} is held back${why}`, until: notBefore };
}

/** Attempts that work finish; nothing else starts. */
function pausedState(places: readonly ShownState[]): ShownState {
  const working = places.filter(({ is }) => is === "working").map(({ text }) => text);
  return state("paused", working.length === 0 ? "" : `${working.join(", ")} and finishes`);
}

function waitingState(run: Run): ShownState {
  const items = openItems(run);
  const isEscalated = items.some(({ kind }) => kind === "escalation");
  const text = items.map(waitText).join("; ");
  return state(isEscalated ? "escalated" : "waiting", text);
}

function state(is: RunStateName, text: string): ShownState {
  return { is, text, until: null };
}
