// The inputs that decide the result of a stage, as far as Passrail can tell: the parts of its key. Two attempts with the same parts may have the
// same result; anything that differs makes another key. Values that differ in every run (its folders, its id, its
// branch) are replaced by their names.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { WorkStage } from "../flow/flow.ts";
import type { RunnerChoice } from "../flow/runner-choice.ts";
import { canonicalJson } from "../json.ts";
import { namedPlaces } from "../replay/places.ts";
import { runFacts } from "../run/facts.ts";
import type { Carry, Run } from "../run/run.ts";

export type MemoSubject = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly stage: WorkStage;
  readonly carry: Carry;
};

export type MemoInputs = {
  /** The commit that it finds. */
  readonly commit: string;
  /** The whole prompt. */
  readonly prompt: string;
  /** Hashes of the handoffs that the prompt names. */
  readonly handoffs: readonly string[];
  readonly play: RunnerChoice;
  /** Which version of its program would run. */
  readonly program: string;
  readonly project: string;
  /** Folders, secrets and names of this attempt. */
  readonly places: Readonly<Record<string, string>>;
};

/** Why no result is reused here; undefined where one may be. A person who wants a stage once more wants it done. */
export function whyNoMemo({ run, stage, carry }: MemoSubject): string | undefined {
  if (stage.memo !== true || stage.kind !== "agent") return "the flow does not say memo";
  if (!runFacts(run).config.memo) return "the run was started without";
  if (carry.reason === "again" || carry.reason === "forced" || carry.reason === "answered")
    return "a person asked for it";
  return carry.said !== undefined || carry.handedBack !== undefined ? "a person said something" : undefined;
}

const MADE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/** The text whose hash is the key. */
export function memoParts({ resolved, run, stage }: MemoSubject, inputs: MemoInputs): string {
  const { commit, handoffs, places, play, program, project, prompt } = inputs;
  const { id } = run.subject;
  const named = namedPlaces({ ...places, run: run.id, ...(MADE_ID.test(id) ? { subject: id } : {}) });
  return canonicalJson({
    version: 1,
    project,
    commit,
    stage,
    agent: resolved.agents[stage.agent] ?? null,
    prompt: named(prompt),
    handoffs,
    play,
    program,
    checks: runFacts(run).config.checks,
  });
}
