// A flow driven by a script of outcomes instead of agents: the same transition, no processes, no store.
// Used by `flow simulate`, by tests and by anyone who wants to see what a flow does before paying for it.

import type { RunEvent } from "./event.ts";
import type { Flow, WorkStage } from "../flow/flow.ts";
import { ownCommand } from "../flow/own-command.ts";
import type { JsonObject } from "../json.ts";
import type { FindingNote, Issue, Report, RoutedStage } from "../flow/outcome.ts";
import { routeKey } from "../flow/outcome.ts";
import type { Problem } from "../result.ts";
import { awaiting } from "../finding/finding.ts";
import { countersOf } from "./counters.ts";
import { answersOf, type InboxItem, openItems, type Run } from "./run.ts";
import { findWork } from "./sequence.ts";
import type { SignalBody } from "./signal.ts";
import { transition } from "./transition.ts";
import { isSentBack } from "../verdict/exit-code.ts";
import { readRouteList } from "../verdict/route-list.ts";
import { optional } from "../optional.ts";

export type ScriptedAttempt = {
  readonly stage: string;
  readonly health?: string;
  readonly verdict?: string;
  /** A builtin's result, in its own word. */
  readonly word?: string;
  /** Exit code of the program; anything but 0 is a failure, whatever else was said. */
  readonly exit?: number;
  readonly score?: number;
  readonly reason?: string;
  readonly summary?: string;
  readonly issues?: readonly Issue[];
  /** A review's dispositions of earlier findings; without it, all of them are fixed. */
  readonly findings?: readonly FindingNote[];
  readonly questions?: readonly string[];
  readonly blame?: readonly string[];
  readonly stages?: readonly (string | { readonly agent: string; readonly teams?: boolean | undefined })[];
  /** The attempt was cut off by a crash. */
  readonly interrupted?: boolean;
};

/** A person's answer to the open item of a stage. `kind` null: any kind of item. */
export type ScriptedAnswer = {
  readonly at: string;
  readonly kind: InboxItem["kind"] | null;
  readonly answer: string;
  readonly text: string;
};

export type ScriptedOutcome = ScriptedAttempt | ScriptedAnswer;

/** The possible next steps: a stage that works, an item that a person answers, or only a person's help. */
export type Expected =
  | { readonly kind: "stage"; readonly stage: string; readonly attempt: number }
  | { readonly kind: InboxItem["kind"]; readonly stage: string; readonly answers: readonly string[] }
  | { readonly kind: "stopped"; readonly stage: string; readonly reason: string };

/** One line of the trace: the report, its meaning, and the state of the run after it. */
export type TraceLine = {
  readonly event: "run.requested" | "stage" | "builtin" | "interrupted" | InboxItem["kind"];
  readonly stage: string | null;
  readonly attempt: number | null;
  /** The source's word, and what it means here. */
  readonly word: string | null;
  readonly canonical: string | null;
  readonly status: string;
  /** Every status word shown on the way here, in order; a stage shows its own while it works. */
  readonly statuses: readonly string[];
  readonly state: Run["status"];
  readonly counters: Readonly<Record<string, number>>;
  readonly skipped: readonly string[];
  readonly warnings: readonly string[];
  readonly next: readonly Expected[];
};

export type Final = {
  readonly state: Run["status"];
  readonly waitingFor: InboxItem["kind"] | null;
  readonly stage: string | null;
  readonly status: string;
  readonly counters: Readonly<Record<string, number>>;
};

/** The result of the script. With a problem, the trace ends before the outcome that did not fit. */
export type Simulation = {
  readonly trace: readonly TraceLine[];
  readonly final: Final;
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly problem: Problem | null;
};

export type SimulationInput = {
  readonly facts: JsonObject;
  /** Agents that a router may name; without the list any name will do. */
  readonly knownAgents?: readonly string[];
};

const AT = "2000-01-01T00:00:00.000Z";
const SUBJECT = { id: "simulated", title: "simulated", body: "" };

export function simulate(flow: Flow, script: readonly ScriptedOutcome[], input: SimulationInput): Simulation {
  const play: Play = { flow, input, run: undefined, events: [], traced: 0, trace: [] };
  const requested: SignalBody = {
    type: "run.requested",
    runId: "simulated",
    flowHash: "",
    subject: SUBJECT,
    facts: input.facts,
  };
  send(play, { event: "run.requested", stage: null, attempt: null }, requested, "human:script");
  let problem: Problem | null = null;
  for (const [index, outcome] of script.entries()) {
    const refused = "at" in outcome ? answer(play, outcome) : attempt(play, outcome);
    if (refused === undefined) continue;
    problem = misfit(play, `outcome ${index + 1}: ${refused}`);
    break;
  }
  if (problem === null) passBuiltins(play, undefined);
  const run = runOf(play);
  return { trace: play.trace, events: play.events, run, final: finalOf(flow, run), problem };
}

type Play = {
  readonly flow: Flow;
  readonly input: SimulationInput;
  run: Run | undefined;
  readonly events: RunEvent[];
  /** How many of them the trace covers. */
  traced: number;
  readonly trace: TraceLine[];
};
type Head = Pick<TraceLine, "event" | "stage" | "attempt">;

function runOf({ run }: Play): Run {
  if (run === undefined) throw new Error("the first signal of a simulation makes the run");
  return run;
}

/** Sends a signal and adds one line for it; or returns why it was refused. Immediate consequences have happened when it returns. */
function send(play: Play, head: Head, body: SignalBody, actor: "engine" | "human:script"): string | undefined {
  const refused = decide(play, body, actor);
  if (refused !== undefined) return refused;
  // There is always a free slot here. Only a flow whose stages wait in line between each other is seen waiting.
  for (const { stage, attempt: number, isRunning } of currentStages(play)) {
    if (!isRunning && !stage.yields) start(play, stage, number);
  }
  play.trace.push(lineOf(play.flow, head, runOf(play), play.events.slice(play.traced)));
  play.traced = play.events.length;
  return undefined;
}

function decide(play: Play, body: SignalBody, actor: "engine" | "human:script"): string | undefined {
  const step = transition(play.flow, play.run, { ...body, id: `s${play.events.length}`, at: AT, actor });
  if (step.ignored !== undefined) return step.ignored;
  play.run = step.run;
  play.events.push(...step.events);
  return undefined;
}

function start(play: Play, stage: WorkStage, attempt: number): void {
  const refused = decide(play, { type: "attempt.started", stage: stage.id, attempt }, "engine");
  if (refused !== undefined) throw new Error(`${stage.id} was ready and did not start: ${refused}`);
}

function answer(play: Play, { at, kind, answer: said, text }: ScriptedAnswer): string | undefined {
  passBuiltins(play, undefined);
  const item = openItems(runOf(play)).find((open) => open.stage === at && (kind === null || open.kind === kind));
  if (item === undefined) return `there is no open ${kind ?? "item"} at ${at}`;
  const isFree = item.kind === "question";
  const body: SignalBody = {
    type: "item.answered",
    number: item.number,
    kind: item.kind,
    answer: isFree ? "" : said,
    text: isFree && text === "" ? said : text,
  };
  return send(play, { event: item.kind, stage: at, attempt: null }, body, "human:script");
}

function attempt(play: Play, outcome: ScriptedAttempt): string | undefined {
  passBuiltins(play, outcome.stage);
  const found = namedStage(play, outcome.stage);
  if (found === undefined) return `${outcome.stage} is not to run now`;
  const { stage, attempt: number, isRunning } = found;
  const at = { stage: stage.id, attempt: number };
  if (!isRunning) start(play, stage, number);
  const end: SignalBody =
    outcome.interrupted === true
      ? { type: "attempt.interrupted", ...at, cause: "script" }
      : { type: "attempt.finished", ...at, report: reportOf(play, stage, outcome) };
  return send(play, { event: outcome.interrupted === true ? "interrupted" : "stage", ...at }, end, "engine");
}

type Current = { readonly stage: WorkStage; readonly attempt: number; readonly isRunning: boolean };

function currentStages(play: Play): readonly Current[] {
  const run = runOf(play);
  return Object.entries(run.tracks).flatMap(([track, state]) => {
    if (state.at !== "ready" && state.at !== "running") return [];
    const stage = findWork(play.flow, run, track, state.stage);
    return stage === undefined ? [] : [{ stage, attempt: state.attempt, isRunning: state.at === "running" }];
  });
}

/** A stage is named by its id, by its agent, or by the dynamic stage that it belongs to. */
function namedStage(play: Play, name: string): Current | undefined {
  const wanted = name.toLowerCase();
  const current = currentStages(play);
  const { expanded } = runOf(play);
  const group = Object.hasOwn(expanded, name) ? (expanded[name] ?? []) : [];
  return (
    current.find(({ stage }) => stage.id.toLowerCase() === wanted) ??
    current.find(({ stage }) => stage.agent === wanted) ??
    current.find(({ stage }) => stage.kind === "agent" && group.some(({ id }) => id === stage.id))
  );
}

/** Builtins are ours and pass, unless the script names them. */
function passBuiltins(play: Play, named: string | undefined): void {
  for (;;) {
    const builtin = currentStages(play).find(
      ({ stage }) => stage.kind === "builtin" && stage.id !== named && stage.agent !== named,
    );
    if (builtin === undefined) return;
    const { stage, attempt: number, isRunning } = builtin;
    if (!isRunning) start(play, stage, number);
    const at = { stage: stage.id, attempt: number };
    const refused = send(
      play,
      { event: "builtin", ...at },
      { type: "attempt.finished", ...at, report: { structured: true } },
      "engine",
    );
    if (refused !== undefined) throw new Error(`the builtin ${stage.id} did not pass: ${refused}`);
  }
}

/** The report that the engine would have read from such an attempt. */
function reportOf(play: Play, stage: WorkStage, outcome: ScriptedAttempt): Report {
  const { input } = play;
  const { exit, word, score, reason, summary, issues, questions, blame } = outcome;
  const said: Report = {
    ...(word === undefined || stage.kind !== "builtin" ? {} : { word }),
    ...optional({ score, reason, summary, issues, findings: findingsIn(play, stage, outcome), questions, blame }),
  };
  const isCheck = stage.result.from === "exit-code" && ownCommand(stage) !== null;
  if (isCheck && exit !== undefined && isSentBack(stage, exit))
    return { issues: [`exit code ${exit}`], ...said, structured: true, verdict: "revise" };
  if (exit !== undefined && exit !== 0) return { reason: `exit code ${exit}`, ...said, cause: "agent_exit_nonzero" };
  const routed = outcome.stages?.map((entry) =>
    typeof entry === "string" ? { agent: entry, teams: false } : { agent: entry.agent, teams: entry.teams ?? false },
  );
  if (stage.kind === "router" && routed !== undefined && routed.length > 0)
    return { ...said, ...routeOf(routed, input.knownAgents) };
  return { ...said, ...wordsOf(stage, outcome), ...optional({ stages: routed }) };
}

/** A script need not know the ids that earlier outcomes got. */
function findingsIn(play: Play, stage: WorkStage, { findings }: ScriptedAttempt): readonly FindingNote[] | undefined {
  if (findings !== undefined || stage.findings === undefined) return findings;
  const open = awaiting(runOf(play).findings, stage.id);
  return open.length === 0 ? undefined : open.map(({ id }) => ({ id, state: "fixed", said: "" }));
}

function routeOf(routed: readonly RoutedStage[], knownAgents: readonly string[] | undefined): Report {
  const read = readRouteList(JSON.stringify(routed), knownAgents ?? routed.map(({ agent }) => agent));
  return read.ok ? { ...read.value, structured: true } : { cause: read.error.code, reason: read.error.message };
}

/** Where a prefix is the whole report, its word is health and verdict at once, and no word is no prefix. */
function wordsOf(stage: WorkStage, { health, verdict, exit }: ScriptedAttempt): Report {
  if (stage.result.from === "prefix") {
    const word = verdict ?? health;
    if (word === undefined) return {};
    const isPrefix = Object.values(stage.result.prefixes ?? {}).includes(word);
    if (isPrefix) return { health: health ?? word, verdict: verdict ?? word };
  }
  const byExit =
    stage.result.from === "exit-code" && exit !== undefined && health === undefined ? { health: String(exit) } : {};
  return {
    structured: true,
    ...byExit,
    ...optional({ health, verdict }),
  };
}

function misfit(play: Play, why: string): Problem {
  const waits = expected(runOf(play));
  if (waits.length === 0) return { code: "outcome_does_not_fit", message: `${why}; the run is ${runOf(play).status}` };
  const message = `${why}; waited for: ${waits.map(describeExpected).join("; ")}`;
  const example = waits.map((next) => exampleOf(play, next)).find((text) => text !== undefined);
  return {
    code: "outcome_does_not_fit",
    message,
    ...(example === undefined ? {} : { hint: `for example ${example}` }),
  };
}

/** An outcome that would fit, in the flow's own words. */
function exampleOf(play: Play, next: Expected): string | undefined {
  switch (next.kind) {
    case "stopped":
      return undefined;
    case "stage": {
      const stage = currentStages(play).find((current) => current.stage.id === next.stage)?.stage;
      const words = stage?.verdicts ?? Object.keys(play.flow.words.verdict);
      const word = words.find((candidate) => play.flow.words.verdict[candidate] === "pass") ?? words[0];
      const isJudge = stage?.expectsVerdict === true && word !== undefined;
      return JSON.stringify({ stage: next.stage, ...(isJudge ? { verdict: word } : { health: "complete" }) });
    }
    case "gate":
    case "question":
    case "choice":
    case "escalation":
    case "budget":
      return JSON.stringify({ [next.kind]: next.stage, answer: next.answers[0] ?? "text" });
  }
}

export function describeExpected(next: Expected): string {
  switch (next.kind) {
    case "stage":
      return `stage ${next.stage} (attempt ${next.attempt})`;
    case "stopped":
      return `stage ${next.stage} stopped: ${next.reason}`;
    case "gate":
    case "question":
    case "choice":
    case "escalation":
    case "budget":
      return `${next.kind} ${next.stage}${next.answers.length === 0 ? "" : ` (${next.answers.join(", ")})`}`;
  }
}

function expected(run: Run): readonly Expected[] {
  return Object.values(run.tracks).flatMap((track): Expected[] => {
    switch (track.at) {
      case "ready":
      case "running":
        return [{ kind: "stage", stage: track.stage, attempt: track.attempt }];
      case "waiting":
        return [{ kind: track.item.kind, stage: track.item.stage, answers: answersOf(track.item) }];
      // A simulation takes nothing over.
      case "taken":
        return [];
      case "stopped":
        return [{ kind: "stopped", stage: track.stage, reason: track.reason }];
      case "forked":
      case "done":
        return [];
    }
  });
}

function lineOf(flow: Flow, head: Head, run: Run, events: readonly RunEvent[]): TraceLine {
  return {
    ...head,
    ...spoken(events),
    status: run.word,
    statuses: events.flatMap((event) => (event.type === "status.changed" ? [event.to] : [])),
    state: run.status,
    counters: countersOf(flow, run),
    skipped: events.flatMap((event) => (event.type === "stage.skipped" ? [event.stage] : [])),
    warnings: events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : [])),
    next: expected(run),
  };
}

function spoken(events: readonly RunEvent[]): Pick<TraceLine, "word" | "canonical"> {
  for (const event of events) {
    if (event.type === "stage.finished")
      return { word: event.outcome.word ?? null, canonical: routeKey(event.outcome) };
    if (event.type === "gate.answered") return { word: event.answer, canonical: event.answer };
    if (event.type === "question.answered") return { word: event.answer, canonical: "answered" };
    if (event.type === "escalation.resolved") return { word: event.choice, canonical: event.choice };
  }
  return { word: null, canonical: null };
}

function finalOf(flow: Flow, run: Run): Final {
  const [item] = openItems(run);
  const active = Object.values(run.tracks).find(
    (track) => track.at === "ready" || track.at === "running" || track.at === "stopped",
  );
  const stage = active !== undefined && "stage" in active ? active.stage : null;
  return {
    state: run.status,
    waitingFor: item?.kind ?? null,
    stage: run.status === "waiting" ? (item?.stage ?? null) : stage,
    status: run.word,
    counters: countersOf(flow, run),
  };
}
