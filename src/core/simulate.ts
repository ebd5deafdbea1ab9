// A flow driven by a script of outcomes instead of agents: the same transition, no processes, no store.
// Used by `flow simulate`, by tests and by anyone who wants to see what a flow does before paying for it.

import type { RunEvent } from "./event.ts";
import type { Flow, WorkStage } from "./flow.ts";
import type { JsonObject } from "./json.ts";
import type { Issue, Report, RoutedStage } from "./outcome.ts";
import { err, ok, type Problem, type Result } from "./result.ts";
import { counterKey } from "./routing.ts";
import { type InboxItem, openItems, type Run } from "./run.ts";
import { findWork } from "./sequence.ts";
import type { SignalBody } from "./signal.ts";
import { transition } from "./transition.ts";

export type ScriptedAttempt = {
  readonly stage: string;
  readonly health?: string;
  readonly verdict?: string;
  readonly score?: number;
  readonly reason?: string;
  readonly summary?: string;
  readonly issues?: readonly Issue[];
  readonly questions?: readonly string[];
  readonly blame?: readonly string[];
  readonly stages?: readonly (string | { readonly agent: string; readonly teams?: boolean })[];
  /** The attempt was cut off by a crash. */
  readonly interrupted?: boolean;
};

/** What a person says to the item that is open at a stage. `kind` null: whatever kind of item it is. */
export type ScriptedAnswer = {
  readonly at: string;
  readonly kind: InboxItem["kind"] | null;
  readonly answer: string;
  readonly text: string;
};

export type ScriptedOutcome = ScriptedAttempt | ScriptedAnswer;

/** One line of the trace: what was reported, what it meant, where the run stands after it. */
export type TraceLine = {
  readonly event: string;
  readonly stage: string | null;
  readonly attempt: number | null;
  readonly word: string | null;
  readonly canonical: string | null;
  readonly status: string;
  readonly state: Run["status"];
  readonly counters: Readonly<Record<string, number>>;
  readonly next: readonly string[];
};

export type Final = {
  readonly state: Run["status"];
  readonly waitingFor: InboxItem["kind"] | null;
  readonly stage: string | null;
  readonly status: string;
  readonly counters: Readonly<Record<string, number>>;
};

export type Simulation = { readonly trace: readonly TraceLine[]; readonly final: Final; readonly run: Run; readonly events: readonly RunEvent[] };

const AT = "2000-01-01T00:00:00.000Z";

export function simulate(flow: Flow, script: readonly ScriptedOutcome[], facts: JsonObject): Result<Simulation> {
  const trace: TraceLine[] = [];
  const events: RunEvent[] = [];
  let run: Run | undefined;
  let signals = 0;
  const send = (body: SignalBody, line: Pick<TraceLine, "event" | "stage" | "attempt"> | null, actor: "engine" | "human:script" = "engine"): Problem | undefined => {
    const step = transition(flow, run, { ...body, id: `s${++signals}`, at: AT, actor });
    if (step.ignored !== undefined) return misfit(step.run, step.ignored);
    run = step.run;
    events.push(...step.events);
    startReady();
    if (line !== null) trace.push({ ...line, ...spoken(step.events), ...standing(flow, run) });
    return undefined;
  };
  // As an engine with free slots would: what is ready starts at once, unless the flow goes back to the pool between stages.
  const startReady = (): void => {
    for (const { stage, attempt } of run === undefined ? [] : currentWork(flow, run, ["ready"])) {
      if (stage.yields || run === undefined) continue;
      const step = transition(flow, run, { type: "attempt.started", stage: stage.id, attempt, id: `s${++signals}`, at: AT, actor: "engine" });
      run = step.run;
      events.push(...step.events);
    }
  };
  const subject = { id: "simulated", title: "simulated", body: "" };
  send({ type: "run.requested", runId: "simulated", flowHash: "", subject, facts }, { event: "run.requested", stage: null, attempt: null });
  for (const [index, outcome] of script.entries()) {
    const problem = play(flow, () => run, send, outcome);
    if (problem !== undefined) return err({ ...problem, message: `outcome ${index + 1}: ${problem.message}` });
  }
  if (run === undefined) throw new Error("a simulation always has a run");
  passBuiltins(flow, () => run, send, undefined);
  return ok({ trace, events, run, final: finalOf(flow, run) });
}

type Send = (body: SignalBody, line: Pick<TraceLine, "event" | "stage" | "attempt"> | null, actor?: "engine" | "human:script") => Problem | undefined;

function play(flow: Flow, current: () => Run | undefined, send: Send, outcome: ScriptedOutcome): Problem | undefined {
  if ("stage" in outcome) {
    passBuiltins(flow, current, send, outcome.stage);
    return playStage(flow, current, send, outcome);
  }
  passBuiltins(flow, current, send, undefined);
  const { at, kind, answer, text } = outcome;
  const run = current();
  const item = run === undefined ? undefined : openItems(run).find((open) => open.stage === at && (kind === null || open.kind === kind));
  if (run === undefined || item === undefined) return misfit(run, `there is no open ${kind ?? "item"} at ${at}`);
  const line = { event: `${item.kind}: ${answer === "" ? text : answer}`, stage: at, attempt: null };
  const free = item.kind === "question";
  return send(
    { type: "item.answered", number: item.number, kind: item.kind, answer: free ? "" : answer, text: free && text === "" ? answer : text },
    line,
    "human:script",
  );
}

function playStage(flow: Flow, current: () => Run | undefined, send: Send, outcome: ScriptedAttempt): Problem | undefined {
  const run = current();
  const found = run === undefined ? undefined : namedStage(flow, run, outcome.stage);
  if (run === undefined || found === undefined) return misfit(run, `${outcome.stage} is not to run now`);
  const { stage, attempt } = found;
  const at = { event: "stage", stage: stage.id, attempt };
  if (found.at === "ready") send({ type: "attempt.started", stage: stage.id, attempt }, null);
  if (outcome.interrupted === true) {
    return send({ type: "attempt.interrupted", stage: stage.id, attempt, cause: "script" }, { ...at, event: "interrupted" });
  }
  return send({ type: "attempt.finished", stage: stage.id, attempt, report: reportOf(outcome) }, at);
}

/** A stage is named by its id, by its agent, or by the dynamic stage that it belongs to. */
function namedStage(flow: Flow, run: Run, name: string): CurrentWork | undefined {
  const wanted = name.toLowerCase();
  const current = currentWork(flow, run, ["ready", "running"]);
  return (
    current.find(({ stage }) => stage.id.toLowerCase() === wanted) ??
    current.find(({ stage }) => stage.agent === wanted) ??
    current.find(({ stage }) => (run.expanded[name] ?? []).some((expanded) => expanded.id === stage.id) && stage.kind === "agent")
  );
}

/** Builtins are ours and pass by themselves, unless the script speaks of them. */
function passBuiltins(flow: Flow, current: () => Run | undefined, send: Send, named: string | undefined): void {
  for (;;) {
    const run = current();
    if (run === undefined) return;
    const builtin = currentWork(flow, run, ["ready", "running"]).find(
      ({ stage }) => stage.kind === "builtin" && stage.id !== named && stage.agent !== named,
    );
    if (builtin === undefined) return;
    const { stage, attempt, at } = builtin;
    if (at === "ready") send({ type: "attempt.started", stage: stage.id, attempt }, null);
    send({ type: "attempt.finished", stage: stage.id, attempt, report: { structured: true } }, { event: "builtin", stage: stage.id, attempt });
  }
}

type CurrentWork = { readonly stage: WorkStage; readonly attempt: number; readonly at: "ready" | "running" };

function currentWork(flow: Flow, run: Run, states: readonly ("ready" | "running")[]): readonly CurrentWork[] {
  return Object.entries(run.tracks).flatMap(([track, state]) => {
    if ((state.at !== "ready" && state.at !== "running") || !states.includes(state.at)) return [];
    const stage = findWork(flow, run, track, state.stage);
    return stage === undefined ? [] : [{ stage, attempt: state.attempt, at: state.at }];
  });
}

function reportOf(outcome: ScriptedAttempt): Report {
  const { health, verdict, score, reason, summary, issues, questions, blame, stages } = outcome;
  const routed: readonly RoutedStage[] | undefined = stages?.map((entry) =>
    typeof entry === "string" ? { agent: entry, teams: false } : { agent: entry.agent, teams: entry.teams ?? false },
  );
  return {
    structured: true,
    ...(health === undefined ? {} : { health }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(score === undefined ? {} : { score }),
    ...(reason === undefined ? {} : { reason }),
    ...(summary === undefined ? {} : { summary }),
    ...(issues === undefined ? {} : { issues }),
    ...(questions === undefined ? {} : { questions }),
    ...(blame === undefined ? {} : { blame }),
    ...(routed === undefined ? {} : { stages: routed }),
  };
}

function misfit(run: Run | undefined, why: string): Problem {
  const waits = run === undefined ? [] : expected(run);
  const hint = waits.length === 0 ? `the run is ${run?.status ?? "not started"}` : `waited for: ${waits.join("; ")}`;
  return { code: "outcome_does_not_fit", message: `${why} (${hint})`, hint };
}

function expected(run: Run): readonly string[] {
  return Object.values(run.tracks).flatMap((track) => {
    if (track.at === "ready" || track.at === "running") return [`stage ${track.stage} (attempt ${track.attempt})`];
    if (track.at === "waiting") return [`${track.item.kind} ${track.item.stage} (${answersTo(track.item).join(", ")})`];
    if (track.at === "stopped") return [`stage ${track.stage} stopped: ${track.reason}`];
    return [];
  });
}

function answersTo(item: InboxItem): readonly string[] {
  switch (item.kind) {
    case "gate":
      return item.answers;
    case "question":
      return ["an answer"];
    case "choice":
    case "escalation":
      return Object.keys(item.choices);
  }
}

function spoken(events: readonly RunEvent[]): Pick<TraceLine, "word" | "canonical"> {
  for (const event of events) {
    if (event.type === "stage.finished") {
      const { health, verdict, word } = event.outcome;
      return { word: word ?? null, canonical: health === "complete" ? (verdict ?? "pass") : health };
    }
    if (event.type === "gate.answered") return { word: event.answer, canonical: event.answer };
    if (event.type === "escalation.resolved") return { word: event.choice, canonical: event.choice };
  }
  return { word: null, canonical: null };
}

function standing(flow: Flow, run: Run): Pick<TraceLine, "status" | "state" | "counters" | "next"> {
  return { status: run.word, state: run.status, counters: countersOf(flow, run), next: expected(run) };
}

/** Every counter of the flow with its loops, also those that have not counted yet. */
export function countersOf(flow: Flow, run: Run): Readonly<Record<string, number>> {
  const names = Object.entries(flow.counters).map(([name, counter]) => counterKey(counter, name, "main"));
  const known = Object.fromEntries(Object.entries(run.counters).map(([key, state]) => [key, state.loops]));
  return { ...Object.fromEntries(names.map((name) => [name, 0])), ...known };
}

export function finalOf(flow: Flow, run: Run): Final {
  const [item] = openItems(run);
  const active = Object.values(run.tracks).find((track) => track.at === "ready" || track.at === "running" || track.at === "stopped");
  const stage = active !== undefined && "stage" in active ? active.stage : null;
  return {
    state: run.status,
    waitingFor: item?.kind ?? null,
    stage: run.status === "waiting" ? (item?.stage ?? null) : stage,
    status: run.word,
    counters: countersOf(flow, run),
  };
}
