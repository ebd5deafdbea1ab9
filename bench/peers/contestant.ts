// What every contestant does: the workload of bench/workload.ts, one run after the other or many at once, and each handoff durable before the
// next one. Peers do as much of it as their kind of program does; where they do less, the comparison favours them.

import type { Load } from "./install.ts";

export type Contestant = {
  /** Runs this many at once; resolves when all are completed. */
  complete(runs: number): Promise<void>;
  close(): Promise<void>;
};

export type Place = {
  /** An empty folder of its own. */
  readonly dir: string;
  /** An empty database of its own, for those that need one. */
  readonly database: string;
  readonly load: Load;
};

/** The stages of a run in order: QA sends the work back once. Before the first and after the last one a person answers a gate. */
export const STAGES = ["spec", "design", "build", "qa", "build-2", "qa-2"] as const;

/** What an agent says; the peers store as much of it as Passrail does. */
export function answerOf(stage: string): Answer {
  return { stage, verdict: stage === "qa" ? "revise" : "pass", summary: "done", at: new Date().toISOString() };
}

export type Answer = {
  readonly stage: string;
  readonly verdict: string;
  readonly summary: string;
  readonly at: string;
};

export const SUBJECT = {
  id: "F-1",
  title: "Export the report as CSV",
  body: "One row per booking, UTF-8, with a header.",
};

/** Between a contestant's process and the one that measures. */
export type ToChild =
  | { readonly type: "work"; readonly atOnce: number; readonly times: number }
  | { readonly type: "close" };
export type FromChild =
  | { readonly type: "ready" }
  | { readonly type: "done"; readonly wallMs: number; readonly cpuMs: number }
  | { readonly type: "failed"; readonly why: string };
