// Transitions per second of the pure core over the signals of the workload, without store, engine or clock.

import { openItems, type Run } from "../src/core/run/run.ts";
import type { Signal, SignalBody } from "../src/core/run/signal.ts";
import { transition } from "../src/core/run/transition.ts";
import { findWork } from "../src/core/run/sequence.ts";
import { median, type Row } from "./measure.ts";
import { answerAtOnce, featureFlow } from "./workload.ts";

const ROUNDS = 9;
const RUNS = 500;

export function measureCore(): readonly Row[] {
  const { flow, hash } = featureFlow();
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const since = performance.now();
    let transitions = 0;
    for (let run = 0; run < RUNS; run += 1) transitions += wholeRun();
    if (round > 0) rates.push((transitions * 1000) / (performance.now() - since));
  }
  return [
    {
      name: "transitions of the pure core",
      value: median(rates),
      unit: "/s",
      limit: { is: "at least", value: 10_000 },
    },
  ];

  function wholeRun(): number {
    const subject = { id: "F-1", title: "Export the report as CSV", body: "One row per booking." };
    let transitions = 0;
    let run: Run | undefined;
    let body: SignalBody | undefined = { type: "run.requested", runId: "r1", flowHash: hash, subject, facts: {} };
    while (body !== undefined) {
      const actor = body.type === "item.answered" ? "human:owner" : "engine";
      const signal: Signal = { ...body, id: String(transitions), at: "2026-01-01T00:00:00.000Z", actor };
      run = transition(flow, run, signal).run;
      transitions += 1;
      body = nextSignal(run);
    }
    if (run?.status !== "completed") throw new Error(`the run ended as ${String(run?.status)}`);
    return transitions;
  }

  function nextSignal(run: Run): SignalBody | undefined {
    const [item] = openItems(run);
    if (item !== undefined)
      return { type: "item.answered", number: item.number, kind: "gate", answer: "approve", text: "" };
    const track = run.tracks["main"];
    if (track?.at === "ready") return { type: "attempt.started", stage: track.stage, attempt: track.attempt };
    if (track?.at !== "running") return undefined;
    const stage = findWork(flow, run, "main", track.stage);
    if (stage === undefined) return undefined;
    const { attempt } = track;
    return { type: "attempt.finished", stage: stage.id, attempt, report: answerAtOnce({ stage, attempt }) };
  }
}
