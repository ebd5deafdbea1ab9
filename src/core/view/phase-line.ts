// Source 002's progress of a run as text: one line when a phase ends, and a table at the end. Numbers that a runner did not report appear
// as not reported, never as 0.

import type { Flow, WorkStage } from "../flow/flow.ts";
import { isPassive } from "../flow/last-gates.ts";

export type Phase = {
  /** From 1, of `total`. */
  readonly number: number;
  readonly total: number;
  readonly role: string;
  readonly iteration: number;
  readonly status: string;
  readonly model: string | null;
  readonly toolUses: number | null;
  readonly tokens: number | null;
  readonly durationMs: number | null;
  readonly next: string;
};

/** `[Phase 3/6] reviewer iter 2: REQUEST_CHANGES, 12400 tokens, 1m 05s → developer` */
export function phaseLine(phase: Phase): string {
  const { number, total, role, iteration, status, tokens, durationMs, next } = phase;
  const used = tokens === null ? `tokens ${NOT_REPORTED}` : `${tokens} tokens`;
  return `[Phase ${number}/${total}] ${role} iter ${iteration}: ${status}, ${used}, ${durationText(durationMs)} → ${next}`;
}

/** Phase | Model | Tool uses | Total tokens | Duration, one row per attempt, and the sum; a sum with unknown parts says so. */
export function phaseTable(phases: readonly Phase[]): string {
  const row = (name: string, model: string | null, toolUses: string, tokens: string, duration: string) =>
    `| ${name} | ${model ?? NOT_REPORTED} | ${toolUses} | ${tokens} | ${duration} |`;
  const sum = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return { total: known.length === 0 ? null : known.reduce((a, b) => a + b, 0), all: known.length === values.length };
  };
  const totals = {
    toolUses: sum(phases.map(({ toolUses }) => toolUses)),
    tokens: sum(phases.map(({ tokens }) => tokens)),
    duration: sum(phases.map(({ durationMs }) => durationMs)),
  };
  const atLeast = (text: string, { total, all }: { total: number | null; all: boolean }) =>
    total !== null && !all ? `≥ ${text}` : text;
  return [
    "| Phase | Model | Tool uses | Total tokens | Duration |",
    "|---|---|---|---|---|",
    ...phases.map(({ role, iteration, model, toolUses, tokens, durationMs }) =>
      row(`${role} iter ${iteration}`, model, countText(toolUses), countText(tokens), durationText(durationMs)),
    ),
    row(
      "Total",
      "",
      atLeast(countText(totals.toolUses.total), totals.toolUses),
      atLeast(countText(totals.tokens.total), totals.tokens),
      atLeast(durationText(totals.duration.total), totals.duration),
    ),
  ].join("\n");
}

/** The phases of a flow in order: every stage with an agent; tracks one after the other. Waiting for a merge is no phase. */
export function phasesOf(flow: Flow): readonly WorkStage[] {
  return flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap((track) => track.stages);
    return stage.kind === "agent" && !isPassive(stage) ? [stage] : [];
  });
}

const NOT_REPORTED = "not reported";

function countText(count: number | null): string {
  return count === null ? NOT_REPORTED : String(count);
}

function durationText(ms: number | null): string {
  if (ms === null) return NOT_REPORTED;
  const seconds = Math.round(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}
