// Random walks through shipped and generated flows: a walk is a list of random moves; each move sends a signal that may or may not fit. The
// properties of the core and of the stores are checked on them.

import * as fc from "fast-check";
import { UNKNOWN_USAGE } from "../../src/core/budget/usage.ts";
import { type Flow, resolveFlow } from "../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../src/core/flow/flow-file.ts";
import type { Report } from "../../src/core/flow/outcome.ts";
import type { RunEvent } from "../../src/core/run/event.ts";
import { openItems, type Run } from "../../src/core/run/run.ts";
import type { Signal, SignalBody } from "../../src/core/run/signal.ts";
import { transition } from "../../src/core/run/transition.ts";
import { SHIPPED, shippedFlow } from "./shipped.ts";

type Move = { readonly kind: number; readonly pick: number; readonly word: number; readonly human: boolean };
type Walk = {
  readonly flow: Flow;
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly signals: readonly Signal[];
};

export const moves = fc.array(
  fc.record({ kind: fc.nat(99), pick: fc.nat(20), word: fc.nat(20), human: fc.boolean() }),
  {
    maxLength: 60,
  },
);
export const facts = fc.record({
  input: fc.constantFrom({}, { agent: "builder" }),
  plan: fc.record({ new_infra: fc.boolean() }),
  config: fc.record({ test_writer: fc.boolean() }),
  ticket: fc.constantFrom({}, { status: "Needs Plan" }, { workflow: "oneshot" }, { status: "Dnoe" }),
});

/** Walks a flow; `each` sees the run before and after every signal. */
export function walk(
  flow: Flow,
  script: readonly Move[],
  startFacts: object,
  each?: (before: Run | undefined, after: Run, signal: Signal, events: readonly RunEvent[]) => void,
  runId = "r1",
): Walk {
  let run: Run | undefined;
  const events: RunEvent[] = [];
  const signals: Signal[] = [];
  const send = (body: SignalBody, actor: Signal["actor"]): void => {
    const signal: Signal = {
      ...body,
      id: `s${signals.length}`,
      at: `2026-01-01T00:00:${String(signals.length % 60).padStart(2, "0")}.000Z`,
      actor,
    };
    const before = run;
    const step = transition(flow, run, signal);
    each?.(before, step.run, signal, step.events);
    run = step.run;
    events.push(...step.events);
    signals.push(signal);
  };
  send(
    {
      type: "run.requested",
      runId,
      flowHash: "h",
      subject: { id: "S-1", title: "t", body: "" },
      facts: startFacts as never,
    },
    "human:t",
  );
  for (const move of script) send(...toSignal(flow, run as unknown as Run, move));
  return { flow, run: run as unknown as Run, events, signals };
}

/** Mostly signals that fit, some that are late, foreign or nonsense. */
function toSignal(flow: Flow, run: Run, { kind, pick, word, human }: Move): [SignalBody, Signal["actor"]] {
  const tracks = Object.values(run.tracks);
  const track = tracks[pick % Math.max(1, tracks.length)];
  const actor: Signal["actor"] = human || kind % 3 > 0 ? "human:t" : "agent:x";
  if (kind < 78) {
    if (track?.at === "ready") {
      const where = { stage: track.stage, attempt: track.attempt };
      if (kind === 4) return [{ type: "budget.reached", ...where, ...OVER, needed: 2, size: 5 }, "engine"];
      if (kind === 5)
        return [
          { type: "attempt.held", ...where, runner: "r", cause: "quota", until: "2026-01-02T00:00:00.000Z" },
          "engine",
        ];
      if (kind === 6) return [{ type: "budget.neared", ...OVER }, "engine"];
      return [{ type: "attempt.started", ...where, ...(kind % 4 === 0 ? { reserved: RESERVED } : {}) }, "engine"];
    }
    if (track?.at === "running") {
      if (kind < 4)
        return [{ type: "attempt.interrupted", stage: track.stage, attempt: track.attempt, cause: "crash" }, "engine"];
      return [
        { type: "attempt.finished", stage: track.stage, attempt: track.attempt, report: toReport(flow, word, pick) },
        "agent:x",
      ];
    }
    const item = openItems(run)[0];
    if (item !== undefined) {
      const answers =
        item.kind === "gate"
          ? item.answers
          : item.kind === "question"
            ? ["text"]
            : item.kind === "budget"
              ? ["raise", "stop"]
              : Object.keys(item.choices);
      const answer = answers[word % answers.length] ?? "";
      return [
        { type: "item.answered", number: item.number, kind: item.kind, answer, text: word % 5 === 0 ? "" : "said" },
        actor,
      ];
    }
  }
  const stage = ["build", "qa", "dev", "nowhere"][pick % 4] ?? "x";
  const odd: SignalBody[] = [
    { type: "attempt.started", stage, attempt: word },
    { type: "attempt.finished", stage, attempt: word, report: { structured: true, verdict: "pass" } },
    { type: "item.answered", number: word, kind: "gate", answer: "approve", text: "" },
    { type: "pause.requested", reason: "r" },
    { type: "resume.requested" },
    { type: "retry.requested", note: "" },
    { type: "skip.requested", reason: word % 2 === 0 ? "" : "because" },
    { type: "attempt.interrupted", stage, attempt: word, cause: "c" },
    ...(kind === 99 ? [{ type: "cancel.requested", reason: "enough" } as const] : []),
  ];
  return [odd[word % odd.length] as SignalBody, actor];
}

const OVER = { scope: "run", key: "r1", unit: "usd", used: 4, limit: 5 } as const;
const RESERVED = { agent: "a", runner: "r", model: null, usd: 1, tokens: 10, ticket: ":S-1" };

function toReport(flow: Flow, word: number, pick: number): Report {
  const words = Object.keys(flow.words.verdict);
  const choices: Report[] = [
    { structured: true },
    { structured: true, verdict: "pass" },
    { structured: true, verdict: "revise", issues: [`issue ${pick % 2}`], blame: pick % 2 === 0 ? ["be"] : [] },
    { structured: true, verdict: words[pick % Math.max(1, words.length)] ?? "pass", issues: ["a"] },
    { structured: true, verdict: words[pick % Math.max(1, words.length)] ?? "pass" },
    { verdict: words[pick % Math.max(1, words.length)] ?? "pass" },
    { structured: true, health: ["blocked", "failed", "incomplete", "odd"][pick % 4] ?? "failed", questions: ["why?"] },
    { cause: "timeout" },
    {
      structured: true,
      stages: [
        { agent: "builder", teams: false },
        { agent: "reviewer", teams: false },
      ],
    },
    {
      structured: true,
      stages: [
        { agent: "architect", teams: false },
        { agent: "builder", teams: true },
        { agent: "reviewer", teams: false },
        { agent: "reviewer", teams: false },
      ],
    },
    { structured: true, stages: [] },
    { structured: true, verdict: "nonsense" },
    { structured: true, verdict: "pass", score: pick % 12 },
    {
      cause: OUTSIDE[pick % OUTSIDE.length] ?? "quota",
      ...(pick % 2 === 0 ? { resetsAt: "2026-01-01T05:00:00Z" } : {}),
    },
    { cause: OUTSIDE[pick % OUTSIDE.length] ?? "quota", usage: { runner: "r", model: null, usage: UNKNOWN_USAGE } },
    { structured: true, health: "blocked", asked: true, questions: ["which?"] },
  ];
  return choices[word % choices.length] as Report;
}

export const OUTSIDE = ["rate_limit", "quota", "server_error", "unreachable", "startup_timeout", "agent_crashed"];

/** Small flows of any shape that the schema allows: chains with gates, loops with counters, a fork. */
const generated = fc
  .record({
    length: fc.integer({ min: 1, max: 6 }),
    gates: fc.array(fc.nat(5), { maxLength: 2 }),
    loops: fc.array(
      fc.record({
        from: fc.nat(5),
        to: fc.nat(5),
        max: fc.integer({ min: 1, max: 3 }),
        spent: fc.constantFrom("escalate", "stop"),
      }),
      { maxLength: 3 },
    ),
    fork: fc.boolean(),
    conditional: fc.nat(5),
  })
  .map(({ length, gates, loops, fork, conditional }) => {
    const stages: object[] = Array.from({ length }, (_, index) => {
      const loop = loops.find(({ from }) => from % length === index);
      return {
        id: `s${index}`,
        ...(gates.includes(index)
          ? { kind: "gate", route: { approve: "next", revise: "s0", decline: "stop" } }
          : { agent: `a${index}` }),
        ...(index === conditional && !gates.includes(index) ? { when: "plan.new_infra" } : {}),
        ...(loop === undefined || gates.includes(index)
          ? {}
          : {
              route: {
                revise: {
                  goto: `s${Math.min(loop.to % length, index)}`,
                  counter: `c${loops.indexOf(loop)}`,
                  carry: ["issues"],
                },
                reject: "escalate",
              },
            }),
      };
    });
    if (fork) {
      const track = (name: string) => ({
        stages: [
          { id: `${name}-work`, agent: name },
          { id: `${name}-check`, agent: name, route: { revise: { goto: `${name}-work`, counter: "per-track" } } },
        ],
      });
      stages.push({ id: "both", kind: "parallel", join: "all-passed", tracks: { be: track("be"), fe: track("fe") } });
    }
    const counters = Object.fromEntries([
      ...loops.map((loop, index) => [`c${index}`, { max_attempts: loop.max, on_exhausted: loop.spent }]),
      ["per-track", { max_attempts: 2, scope: "track", on_exhausted: "escalate" }],
    ]);
    return resolveFlow(
      flowFileSchema.parse({ flow: "generated", version: 1, subject: "thing", allow_ungated: true, counters, stages }),
    );
  });

export const anyFlow = fc.oneof(...SHIPPED.map((name) => fc.constant(shippedFlow(name))), generated);
