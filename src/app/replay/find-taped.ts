// The attempts of a run that can be replayed, each with its tape and the run as it was when the attempt started.
// Missing inputs are reported before anything starts.

import { existsSync } from "node:fs";
import { attemptFiles } from "../../attempt/attempt-files.ts";
import { type AttemptFacts, attemptFacts } from "../../core/attempt-facts.ts";
import { LADDER_RUNNERS } from "../../core/flow/runner-names.ts";
import { removedText } from "../../core/retention/retention.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { evolve } from "../../core/run/evolve.ts";
import { jointOf } from "../../core/run/joint.ts";
import type { PersonMessage } from "../../core/run/message.ts";
import type { Run } from "../../core/run/run.ts";
import { readTape, type ReadTape } from "../../gateway/tape.ts";
import type { AttemptRecord, Store } from "../../store/store.ts";
import { eventsOf } from "../find-run.ts";
import { readNote } from "../retention/removed-note.ts";

export type TapedAttempt = {
  readonly record: AttemptRecord;
  readonly facts: AttemptFacts;
  /** Where its work began. */
  readonly from: string;
  /** As it was when the attempt started. */
  readonly run: Run;
  /** What people said to its agent while it worked. */
  readonly heard: readonly PersonMessage[];
};

export type WithTape = TapedAttempt & { readonly tape: ReadTape };

/** An attempt that no model was asked for: a command, a stage of Passrail's own. */
export type LeftOut = { readonly stage: string; readonly attempt: number; readonly why: string };

export type Replayable<T extends TapedAttempt> = {
  readonly attempts: readonly T[];
  readonly leftOut: readonly LeftOut[];
};

/** `stage`: `build`, or one attempt of it, `build#2`; absent: all. */
export async function findRecorded(
  store: Store,
  run: Run,
  stage: string | undefined,
): Promise<Result<Replayable<TapedAttempt>>> {
  if (jointOf(run) !== null)
    return err({
      code: "replay_joint",
      message: `${run.id} works on several repositories; such runs cannot be replayed.`,
    });
  const wanted = (await store.attempts(run.id)).filter((each) => isWanted(each, stage));
  if (wanted.length === 0) {
    const what = stage === undefined ? `${run.id} has no attempt yet.` : `${run.id} has no attempt ${stage}.`;
    return err({ code: "attempt_not_found", message: what, hint: `passrail runs show ${run.id}` });
  }
  const { starts, heard } = await readHistory(store, run.id);
  const [attempts, leftOut]: [TapedAttempt[], LeftOut[]] = [[], []];
  for (const record of wanted) {
    const facts = attemptFacts(record);
    const why = whyLeftOut(record, facts);
    const before = starts.get(nameOf(record));
    if (why !== undefined || before === undefined || facts.from === null)
      leftOut.push({ stage: record.stage, attempt: record.attempt, why: why ?? "where it began is not recorded" });
    else attempts.push({ record, facts, from: facts.from, run: before, heard: heard.get(nameOf(record)) ?? [] });
  }
  if (attempts.length > 0) return ok({ attempts, leftOut });
  const list = leftOut.map((each) => `${nameOf(each)}: ${each.why}`).join("; ");
  return err({ code: "replay_nothing", message: `There is nothing to replay in ${run.id}: ${list}.` });
}

/** The same with the tape of each; one that is missing is an error, before anything starts. */
export async function findTaped(
  home: string,
  store: Store,
  run: Run,
  stage: string | undefined,
): Promise<Result<Replayable<WithTape>>> {
  const found = await findRecorded(store, run, stage);
  if (!found.ok) return found;
  const [attempts, missing]: [WithTape[], string[]] = [[], []];
  for (const each of found.value.attempts) {
    const { tape: path } = attemptFiles(home, run.id, each.record.stage, each.record.attempt);
    const tape = existsSync(path) ? await readTape(path) : undefined;
    const why = tape === undefined ? whyNoTape(home, each.record) : whyUnusable(tape);
    if (tape === undefined || why !== undefined) missing.push(`${nameOf(each.record)}: ${why ?? ""}`);
    else attempts.push({ ...each, tape });
  }
  if (missing.length === 0) return ok({ attempts, leftOut: found.value.leftOut });
  return err({
    code: "tape_missing",
    message: `Nothing was started, because a tape is missing. ${missing.join("; ")}.`,
    hint:
      attempts.length === 0
        ? "set `gateway: { mode: on }` for later runs (docs/gateway.md)"
        : `passrail replay ${run.id} --stage ${nameOf(attempts[0]?.record ?? { stage: "", attempt: 0 })}   replays one that has a tape`,
  });
}

export function nameOf({ stage, attempt }: { readonly stage: string; readonly attempt: number }): string {
  return `${stage}#${attempt}`;
}

function isWanted(record: AttemptRecord, stage: string | undefined): boolean {
  return stage === undefined || record.stage === stage || nameOf(record) === stage;
}

function whyLeftOut({ status, outcome }: AttemptRecord, { runner }: AttemptFacts): string | undefined {
  if (outcome?.["reused"] !== undefined) return "no agent worked: its result was reused";
  if (!LADDER_RUNNERS.some((each) => each === runner))
    return runner === null ? "Passrail's own stage" : `${runner} asks no model through a gateway`;
  if (status === "running" || status === "ready") return "it has not ended";
  return outcome === null ? "it was cut off and has no result" : undefined;
}

function whyNoTape(home: string, { runId, outcome }: AttemptRecord): string {
  const removed = readNote(home, runId);
  if (removed !== undefined) return removedText(removed).replace(/\.$/u, "");
  const warnings = Array.isArray(outcome?.["warnings"]) ? outcome["warnings"].map(String) : [];
  const bypassed = warnings.find((text) => text.startsWith("gateway_bypassed: "));
  return bypassed?.slice("gateway_bypassed: ".length) ?? "it ran without a gateway, or without a tape";
}

function whyUnusable({ places, exchanges }: ReadTape): string | undefined {
  if (exchanges.length === 0) return "its tape has no whole answer";
  return places === null ? "an earlier version of Passrail recorded its tape" : undefined;
}

/** An imported run has another subject here; its agents' prompts named the original one. */
function asItWas(run: Run): Run {
  return run.imported === undefined ? run : { ...run, subject: { ...run.subject, id: run.imported.subject } };
}

/** The run at the start of each attempt, and what each heard later. */
async function readHistory(store: Store, runId: string) {
  const starts = new Map<string, Run>();
  const heard = new Map<string, readonly PersonMessage[]>();
  let run: Run | undefined;
  for await (const { event } of eventsOf(store, runId)) {
    run = evolve(run, event);
    if (event.type === "stage.started") starts.set(nameOf(event), asItWas(run));
    if (event.type !== "message.delivered" || event.way === "attempt") continue;
    const { heard: _heard, ...said } = run.messages?.kept.find(({ number }) => number === event.number) ?? {};
    if ("text" in said) heard.set(nameOf(event), [...(heard.get(nameOf(event)) ?? []), said]);
  }
  return { starts, heard };
}
