// People's words to a stage of a story while it had the work: answers to its questions, and notes. An agent outside
// reads only handoffs, so the next handoff to it carries all of this, and so does the one by which it sends the work
// back.

import type { Flow } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import type { Carry, Told } from "./run.ts";

/** Older ones go: a run does not grow with every question. */
const KEPT = 20;

const NOTHING: Told = { answers: [], notes: [] };

/** A flow whose handoffs are read over the API; only these keep people's words. */
export function isStoryFlow({ handoffs }: Pick<Flow, "handoffs">): boolean {
  return handoffs.entry !== undefined || handoffs.exit !== undefined;
}

export function toldAnswer(flow: Flow, { told = NOTHING }: Pick<Carry, "told">, question: string, answer: string) {
  return kept(flow, { ...told, answers: [...told.answers, { question, answer }].slice(-KEPT) });
}

/** An empty note is none. */
export function toldNote(flow: Flow, { told = NOTHING }: Pick<Carry, "told">, note: string) {
  if (note.trim() === "") return {};
  return kept(flow, { ...told, notes: [...told.notes, note].slice(-KEPT) });
}

function kept(flow: Flow, told: Told): Pick<Carry, "told"> {
  return isStoryFlow(flow) ? { told } : {};
}

/** The keys that it adds to the payload of a handoff; undefined if there are none. Their names keep clear of the agents' own keys. */
export function toldPayload({ told }: Pick<Carry, "told">): JsonObject | undefined {
  if (told === undefined) return undefined;
  return {
    ...(told.answers.length === 0 ? {} : { person_answers: told.answers }),
    ...(told.notes.length === 0 ? {} : { person_notes: told.notes }),
  };
}
