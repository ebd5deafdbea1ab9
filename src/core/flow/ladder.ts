// A ladder of runners: `runner: [claude, codex]`. An attempt that starts a new session takes the first rung that can work now; one that
// continues a session stays with its runner. Model and effort belong to one rung.

import type { Effort, LadderRunner, RunnerName, WrittenOptions } from "./agent-options.ts";
import { LADDER_RUNNERS } from "./runner-names.ts";
import { optional } from "../optional.ts";

export type Rung = { readonly runner: RunnerName; readonly model?: string; readonly effort?: Effort };

/** A runner that was passed over, and why. */
export type PassedRung = {
  readonly runner: string;
  readonly cause: string;
  readonly until: string | null;
};

/** The rung that an attempt took. Absent for a stage without a ladder. */
export type TakenRung = {
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly passed: readonly PassedRung[];
};

type Written = WrittenOptions["runner"];

/** The rungs of a written runner, the first first: one for a plain name, none if nothing is written. */
export function rungsIn(written: Written): readonly Rung[] {
  if (written === undefined) return [];
  if (typeof written === "string") return [{ runner: written }];
  return written.map((rung) =>
    typeof rung === "string"
      ? { runner: rung }
      : { runner: rung.runner, ...optional({ model: rung.model, effort: rung.effort }) },
  );
}

/** The program that plays the agent unless something keeps it from working. */
export function firstRunner(written: Written): RunnerName | undefined {
  return typeof written === "string" ? written : rungsIn(written)[0]?.runner;
}

/** `claude,codex:gpt-5.5` of a flag or a variable. Undefined if this is no list of runners; a single name is none. */
export function readLadder(text: string): Exclude<Written, RunnerName | undefined> | undefined {
  const rungs = text.split(",").map(readRung);
  if (rungs.length < 2 || rungs.length > 8) return undefined;
  return rungs.every((rung) => rung !== undefined) ? rungs : undefined;
}

function readRung(text: string): LadderRunner | { runner: LadderRunner; model: string } | undefined {
  const at = text.indexOf(":");
  const name = (at === -1 ? text : text.slice(0, at)).trim();
  const runner = LADDER_RUNNERS.find((known) => known === name);
  if (runner === undefined || at === -1) return runner;
  const model = text.slice(at + 1).trim();
  return model === "" || model.length > 100 ? undefined : { runner, model };
}

/** `claude,codex:gpt-5.5`, for files and flags. */
export function ladderWords(written: Exclude<Written, undefined>): string {
  return rungsIn(written)
    .map(({ runner, model }) => (model === undefined ? runner : `${runner}:${model}`))
    .join(",");
}

/** `claude, then codex gpt-5.5`, for people. */
export function ladderText(rungs: readonly { readonly runner: string; readonly model?: string | null }[]): string {
  return rungs.map(({ runner, model }) => [runner, ...(model == null ? [] : [model])].join(" ")).join(", then ");
}
