// Compares the files that a run was started with with the project's, right before a stage that reads them starts. The copy of a new version is
// written before a person is asked about it: the answer is about exactly that text, also after a crash.

import { readStated } from "../core/input/stated.ts";
import { inputsOf, readsInputs } from "../core/input/inputs-of.ts";
import { factPathsOf, holds } from "../core/flow/condition.ts";
import type { Flow, WorkStage } from "../core/flow/flow.ts";
import { lookUp } from "../core/json.ts";
import { type PinnedInput, pinnedOf } from "../core/run/pinned.ts";
import { projectOf } from "../core/run/run-settings.ts";
import type { InputChange, Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { textDiff } from "../core/view/text-diff.ts";
import { hashOf, readInputFile } from "../file/input-file.ts";
import { readPinned, writePinned } from "../file/pinned-copy.ts";

/** A longer difference is cut; the person has the file itself. */
const DIFF_CHARS = 12_000;

type Changed = {
  readonly change: InputChange;
  readonly question: string;
  /** Why the new text cannot be taken in this run. */
  readonly refusal?: string;
};

/** The signal that replaces the start of this attempt; undefined if nothing has changed, or a person has kept the agreed text. */
export function changedInputs(
  home: string,
  flow: Flow,
  run: Run,
  { stage, attempt }: { readonly stage: WorkStage; readonly attempt: number },
): (SignalBody & { type: "inputs.changed" }) | undefined {
  if (run.facts["pinned"] === undefined || !readsInputs(stage)) return undefined;
  const found = pinnedOf(run).inputs.flatMap((input) => compare(home, flow, run, input) ?? []);
  if (found.length === 0) return undefined;
  const refusals = found.flatMap(({ refusal }) => refusal ?? []);
  return {
    type: "inputs.changed",
    stage: stage.id,
    attempt,
    changes: found.map(({ change }) => change),
    questions: [
      ...found.map(({ question }) => question),
      ...refusals.map(
        (why) => `The new text cannot be taken in this run: ${why}. Keep the agreed text, or cancel and start again.`,
      ),
    ],
    mayTake: refusals.length === 0,
  };
}

function compare(home: string, flow: Flow, run: Run, input: PinnedInput): Changed | undefined {
  const { name, path, sha256, kept } = input;
  const read = readInputFile(projectOf(run), path);
  // A file that is gone has no new text to agree to: the agreed one stays.
  if (!read.ok && read.error === "does not exist") return undefined;
  const found = read.ok ? read.value.sha256 : hashOf(`${path} ${read.error}`);
  if (found === sha256 || found === kept) return undefined;
  const change = { name, path, sha256: found, bytes: read.ok ? read.value.bytes : 0 };
  const title = `${path} (${name}) changed after the start: ${sha256.slice(0, 12)} → ${found.slice(0, 12)}.`;
  if (!read.ok) return { change, question: title, refusal: `${path} ${read.error}` };
  const copy = writePinned(home, run.id, read.value.text);
  if (!copy.ok) return { change, question: title, refusal: copy.error.message };
  const agreed = readPinned(home, run.id, sha256);
  const diff = agreed.ok ? textDiff(agreed.value, read.value.text) : `(${agreed.error.message})`;
  const shown = diff.length > DIFF_CHARS ? `${diff.slice(0, DIFF_CHARS)}\n(cut)` : diff;
  const refusal = otherFacts(flow, run, name, read.value.text);
  return {
    change,
    question: `${title}\n${shown}`,
    ...(refusal === undefined ? {} : { refusal: `${path} ${refusal}` }),
  };
}

/** The stages of a run follow from what its files stated at the start, so a text that states something else is for another run. */
function otherFacts(flow: Flow, run: Run, name: string, text: string): string | undefined {
  for (const state of inputsOf(flow).find((each) => each.name === name)?.states ?? []) {
    const stated = readStated(text, state);
    if (!stated.ok) return stated.error;
    const before = lookUp(run.facts, state.fact.split("."));
    if (stated.value !== undefined && stated.value !== before && !isImplied(flow, run, state.fact, stated.value))
      return `now says ${state.labels[0] ?? state.fact}: ${String(stated.value)}, and the run began with ${before === undefined ? "nothing" : JSON.stringify(before)}`;
  }
  return undefined;
}

/** Nothing was said at the start, and what is said now means the same: no new infrastructure, or the complexity that this flow is for. */
function isImplied({ chooseWhen }: Flow, run: Run, fact: string, value: string | boolean): boolean {
  if (lookUp(run.facts, fact.split(".")) !== undefined) return false;
  if (value === false) return true;
  const isChosenBy = chooseWhen !== undefined && factPathsOf(chooseWhen).some((path) => path.join(".") === fact);
  return isChosenBy && holds(chooseWhen, (path) => (path.join(".") === fact ? value : lookUp(run.facts, path)));
}
