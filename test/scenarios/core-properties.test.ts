// Properties of the one rule, over all shipped flows and over generated ones. What holds must hold after every step of every walk.

import * as fc from "fast-check";
import { awaiting } from "../../src/core/finding/finding.ts";
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/core/run/event.ts";
import { evolve } from "../../src/core/run/evolve.ts";
import { isEnded, openItems, type Run } from "../../src/core/run/run.ts";
import type { Signal, SignalBody } from "../../src/core/run/signal.ts";
import { transition } from "../../src/core/run/transition.ts";
import { UNKNOWN_USAGE } from "../../src/core/budget/usage.ts";
import { anyFlow, facts, moves, OUTSIDE, walk } from "../harness/random-walks.ts";

describe("for every flow and every walk", () => {
  test("I4: no counter ever exceeds its cap", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        walk(flow, script, start, (_before, after) => {
          for (const [key, state] of Object.entries(after.counters)) {
            const max = flow.counters[key.split(".").at(-1) ?? key]?.maxLoops;
            if (max !== null && max !== undefined) expect(state.loops).toBeLessThanOrEqual(max);
          }
        });
      }),
      { numRuns: 3000 },
    );
  });

  test("R-X-04, P3: folding the stored events gives the same run, byte for byte", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        const { run, events } = walk(flow, script, start);
        const stored = events.map((event) => JSON.parse(JSON.stringify(event)) as RunEvent);
        const folded = stored.reduce<Run | undefined>((state, event) => evolve(state, event), undefined);
        expect(JSON.stringify(folded)).toBe(JSON.stringify(run));
      }),
      { numRuns: 3000 },
    );
  });

  test("P4: only a recorded answer of a person leaves a gate", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        walk(flow, script, start, (before, after, signal, events) => {
          for (const [name, track] of Object.entries(before?.tracks ?? {})) {
            if (track.at !== "waiting" || track.item.kind !== "gate") continue;
            const now = after.tracks[name];
            const stays = now?.at === "waiting" && now.item.number === track.item.number;
            const answered = events.some(
              (event) =>
                event.type === "gate.answered" &&
                event.number === track.item.number &&
                event.actor.startsWith("human:"),
            );
            const canceled = signal.type === "cancel.requested" && after.status === "canceled";
            expect(stays || answered || canceled).toBe(true);
          }
        });
      }),
      { numRuns: 3000 },
    );
  });

  test("R-X-03: repeating any earlier signal at the end changes nothing, and is recorded", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, fc.nat(), (flow, script, start, which) => {
        const { run, signals } = walk(flow, script, start);
        const late = signals.filter(
          (signal) =>
            signal.type === "attempt.started" ||
            signal.type === "attempt.finished" ||
            signal.type === "attempt.interrupted" ||
            signal.type === "run.requested",
        );
        const repeated = late[which % late.length];
        if (repeated === undefined || isCurrent(run, repeated)) return;
        const step = transition(flow, run, repeated);
        expect(JSON.stringify(step.run)).toBe(JSON.stringify(run));
        expect(step.events).toMatchObject([{ type: "signal.ignored" }]);
        expect(step.commands).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test("P6: every state that is not final has a way out", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        const { run } = walk(flow, script, start);
        if (isEnded(run)) return;
        const tracks = Object.values(run.tracks);
        expect(tracks.length).toBeGreaterThan(0);
        const alive = tracks.some(
          ({ at }) => at === "ready" || at === "running" || at === "waiting" || at === "stopped",
        );
        expect(alive).toBe(true);
        const canceled = transition(flow, run, {
          type: "cancel.requested",
          reason: "r",
          id: "x",
          at: "2026-01-01T00:00:00.000Z",
          actor: "human:t",
        });
        expect(canceled.run.status).toBe("canceled");
        expect(openItems(canceled.run)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test("P6: from every state, good outcomes and willing people bring the run to its end", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        let { run } = walk(flow, script, start);
        for (let steps = 0; steps < 300 && !isEnded(run); steps++) {
          const id = `on${steps}`;
          run = transition(flow, run, { ...onward(run), id, at: "2026-01-01T00:00:00.000Z", actor: "human:t" }).run;
        }
        expect(run.status === "completed" || run.status === "canceled").toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test("a failure that is put off changes no counter, no handoff and nothing that is handed on", () => {
    let seen = 0;
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        walk(flow, script, start, (before, after, signal, events) => {
          const postponed = events.find((event) => event.type === "stage.postponed");
          if (before === undefined || postponed?.type !== "stage.postponed") return;
          seen += 1;
          expect(after.counters).toEqual(before.counters);
          expect(after.handoffs).toBe(before.handoffs);
          expect(events.some(({ type }) => type.startsWith("handoff.") || type.startsWith("counter."))).toBe(false);
          const [was, is] = [before.tracks[postponed.track], after.tracks[postponed.track]];
          if (was?.at !== "running" || is?.at !== "ready") throw new Error("it was running and is ready");
          expect(is.carry).toEqual(was.carry);
          expect([is.stage, is.attempt]).toEqual([was.stage, was.attempt + 1]);
          expect((is.notBefore ?? "") > signal.at).toBe(true);
          expect(postponed.retry).toBeLessThanOrEqual(postponed.of);
        });
      }),
      { numRuns: 2000 },
    );
    expect(seen).toBeGreaterThan(100);
  });

  test("no stage is put off more than seven times in a row", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        let row = 0;
        let { run } = walk(flow, script, start);
        for (let steps = 0; steps < 40; steps++) {
          const ready = Object.values(run.tracks).find((track) => track.at === "ready" || track.at === "running");
          if (ready === undefined || (ready.at !== "ready" && ready.at !== "running")) return;
          const where = { stage: ready.stage, attempt: ready.attempt };
          const report = { cause: OUTSIDE[steps % OUTSIDE.length] ?? "quota" };
          const body: SignalBody =
            ready.at === "ready"
              ? { type: "attempt.started", ...where }
              : { type: "attempt.finished", ...where, report };
          const step = transition(flow, run, {
            ...body,
            id: `x${steps}`,
            at: "2026-01-01T00:00:00.000Z",
            actor: "engine",
          });
          run = step.run;
          if (body.type !== "attempt.finished") continue;
          row = step.events.some(({ type }) => type === "stage.postponed") ? row + 1 : 0;
          expect(row).toBeLessThanOrEqual(7);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("what an attempt has used is taken also after the end, and leaves everything else as it was", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        const { run } = walk(flow, script, start);
        const [stage] = Object.keys(run.stages);
        if (stage === undefined) return;
        const reported = { runner: "r", model: null, usage: { ...UNKNOWN_USAGE, usd: 1 } };
        const body: SignalBody = { type: "attempt.spent", stage, attempt: 1, reported };
        const step = transition(flow, run, { ...body, id: "x", at: "2026-01-01T00:00:00.000Z", actor: "engine" });
        expect(step.events.filter(({ type }) => type !== "usage.recorded")).toEqual([]);
        expect({ ...step.run, spent: null }).toEqual({ ...run, spent: null });
        expect(step.commands).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("I6: a final state is never left", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        walk(flow, script, start, (before, after) => {
          if (before !== undefined && isEnded(before)) expect(after).toBe(before);
        });
      }),
      { numRuns: 2000 },
    );
  });

  test("R-002-60: the same signals always lead the same way", () => {
    fc.assert(
      fc.property(anyFlow, moves, facts, (flow, script, start) => {
        expect(JSON.stringify(walk(flow, script, start).events)).toBe(JSON.stringify(walk(flow, script, start).events));
      }),
      { numRuns: 1000 },
    );
  });
});

/** The signal that helps most: resume, start, pass, approve, accept, retry what has stopped. */
function onward(run: Run): SignalBody {
  if (run.paused) return { type: "resume.requested" };
  const [item] = openItems(run);
  if (item !== undefined) {
    const answers =
      item.kind === "gate"
        ? ["approve"]
        : item.kind === "question"
          ? [""]
          : item.kind === "budget"
            ? ["raise"]
            : [
                ...Object.entries(item.choices).flatMap(([name, target]) =>
                  ["accept", "next"].includes(target) ? [name] : [],
                ),
                // Where nothing accepts, the first choice tries again.
                ...Object.keys(item.choices),
              ];
    const text = item.kind === "budget" ? "" : "yes";
    return { type: "item.answered", number: item.number, kind: item.kind, answer: answers[0] ?? "", text };
  }
  for (const track of Object.values(run.tracks)) {
    if (track.at === "ready") return { type: "attempt.started", stage: track.stage, attempt: track.attempt };
    if (track.at === "stopped") return { type: "retry.requested", stage: track.stage, note: "" };
    if (track.at !== "running") continue;
    const stages = [{ agent: "builder", teams: false }];
    // A judge that passes says of every open finding of its own that it is fixed.
    const fixed = awaiting(run.findings, track.stage).map(({ id }) => ({ id, state: "fixed" as const, said: "seen" }));
    return {
      type: "attempt.finished",
      stage: track.stage,
      attempt: track.attempt,
      report: { structured: true, verdict: "pass", stages, ...(fixed.length > 0 ? { findings: fixed } : {}) },
    };
  }
  return { type: "cancel.requested", reason: "nothing to do" };
}

function isCurrent(run: Run, signal: Signal): boolean {
  return Object.values(run.tracks).some(
    (track) =>
      "attempt" in track &&
      "stage" in signal &&
      "attempt" in signal &&
      track.stage === signal.stage &&
      track.attempt === signal.attempt,
  );
}
