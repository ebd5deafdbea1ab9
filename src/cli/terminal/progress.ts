// A run told line by line while it goes: one line per change that a reader cares about. The flow's own log lines where it has
// some, else one line per phase. Events in, lines out; knows nothing of terminals.

import { runFacts } from "../../core/run/facts.ts";
import { amountText, scopeText } from "../../core/budget/budget.ts";
import type { RunEvent } from "../../core/run/event.ts";
import type { Flow } from "../../core/flow/flow.ts";
import { causeText } from "../../core/run/postponement.ts";
import { phaseLine, phasesOf } from "../../core/view/phase-line.ts";
import { type InboxItem, openItems, type Run } from "../../core/run/run.ts";
import { findWork, stagesOf } from "../../core/run/sequence.ts";
import { tokensOf } from "../../core/budget/usage.ts";
import { oneLine } from "./plain-text.ts";
import { answersTo, askedBy, localTime } from "./run-view.ts";

const WIDTH = 300;

/** The lines for the events of one run, in order. `startedAt` remembers when attempts began, from call to call. */
export function progressLines(
  flow: Flow,
  run: Run,
  number: number,
  events: readonly RunEvent[],
  startedAt: Map<string, number>,
): readonly string[] {
  return events.flatMap((event, index) => linesOf(flow, run, number, event, events.slice(index + 1), startedAt));
}

function linesOf(
  flow: Flow,
  run: Run,
  number: number,
  event: RunEvent,
  later: readonly RunEvent[],
  startedAt: Map<string, number>,
): readonly string[] {
  switch (event.type) {
    case "stage.started": {
      startedAt.set(`${event.stage}#${event.attempt}`, Date.parse(event.at));
      const place = placeOf(flow, run, event.track, event.stage);
      if (place === undefined) return [];
      if (flow.log.start !== undefined) return [fill(flow.log.start, place)];
      return [`▶ ${event.stage}: ${place.agent} works (attempt ${event.attempt})`];
    }
    case "stage.finished": {
      const { outcome } = event;
      const place = placeOf(flow, run, event.track, event.stage);
      const why = outcome.health === "complete" ? "" : `: ${oneLine(outcome.reason ?? outcome.cause ?? "", WIDTH)}`;
      if (flow.log.end !== undefined && place !== undefined) {
        return outcome.health === "complete"
          ? [fill(flow.log.end, place)]
          : [`✖ ${place.agent} ${outcome.health}${why}`];
      }
      const status = `${outcome.word ?? (outcome.health === "complete" ? (outcome.verdict ?? "pass") : outcome.health)}${why}`;
      const next = nextOf(event.track, later);
      if (place === undefined) return [`✔ ${event.stage}: ${status} → ${next}`];
      const begun = startedAt.get(`${event.stage}#${event.attempt}`);
      const durationMs = begun === undefined ? null : Date.parse(event.at) - begun;
      const tokens = tokensTold(event.stage, event.attempt, later);
      const phase = {
        ...phaseOf(flow, event.stage, place),
        iteration: event.attempt,
        status,
        tokens,
        durationMs,
        next,
      };
      return [phaseLine(phase)];
    }
    case "stage.expanded":
      return flow.log.start === undefined
        ? [`  ${event.stage}: ${event.stages.map(({ agent }) => agent).join(" → ")}`]
        : [];
    case "stage.interrupted":
      return [`! ${event.stage} attempt ${event.attempt} was interrupted (${event.cause}); it starts again`];
    case "stage.skipped":
      return event.actor.startsWith("human:") ? [`⤼ ${event.stage} skipped: ${oneLine(event.reason, WIDTH)}`] : [];
    case "counter.changed":
      return event.to === 0 ? [] : [`↺ ${event.key} ${event.to} of ${maxOf(flow, event.key)}`];
    case "counter.spent":
      return [`↺ ${event.key} is used up after ${event.loops}`];
    case "warning.raised":
      return [`! ${oneLine(event.message, WIDTH)}`];
    case "gate.opened":
    case "question.asked":
    case "escalation.opened":
    case "budget.reached":
      // Told once it is known that it is still open: while following old events most items are answered already.
      return openItems(run).some((open) => open.number === event.item.number)
        ? waitingLines(event.item, number, run)
        : [];
    case "gate.answered":
      return [
        `✔ ${event.stage}: ${event.answer} by ${personOf(event.actor)}${event.comment === "" ? "" : ` (${oneLine(event.comment, WIDTH)})`}`,
      ];
    case "question.answered":
      return [`✔ ${event.stage}: answered by ${personOf(event.actor)}`];
    case "escalation.resolved":
      return [`✔ ${event.stage}: ${event.choice} by ${personOf(event.actor)}`];
    case "budget.answered":
      return [
        `✔ ${event.stage}: budget ${event.answer === "raise" ? "raised" : "not raised"} by ${personOf(event.actor)}${event.note === "" ? "" : ` (${oneLine(event.note, WIDTH)})`}`,
      ];
    case "budget.warned": {
      const { scope, key, unit, used, limit } = event;
      return [
        `! ${amountText(unit, used)} of ${amountText(unit, limit)} of ${scopeText(scope, key)} is used or put aside`,
      ];
    }
    case "stage.postponed":
      return [
        `⏲ ${event.stage}: ${causeText(event.cause)}, resumes ${localTime(event.until, Date.parse(event.at))} (retry ${event.retry} of ${event.of}; no loop is used up)`,
      ];
    case "stage.held":
      return [
        `⏲ ${event.stage} resumes ${localTime(event.until, Date.parse(event.at))} (${causeText(event.cause)} of ${event.runner})`,
      ];
    case "run.stopped":
      return [`✖ stopped: ${oneLine(event.reason, WIDTH)}`];
    case "run.paused":
      return [`⏸ paused by ${personOf(event.actor)}`];
    case "run.unpaused":
      return [`▶ resumed by ${personOf(event.actor)}`];
    case "run.canceled":
      return [`⊘ canceled by ${personOf(event.actor)}: ${oneLine(event.reason, WIDTH)}`];
    case "run.completed":
      return [flow.log.done ?? `✔ completed`];
    case "ticket.edited":
      return [`✎ the ticket was edited by ${personOf(event.actor)}; the next attempt gets the new text`];
    case "run.created":
    case "run.waiting":
    case "run.resumed":
    case "run.stalled":
    case "stage.ready":
    case "stage.timed_out":
    case "stage.canceled":
    case "stage.stopped":
    case "tracks.forked":
    case "track.done":
    case "tracks.joined":
    case "handoff.created":
    case "handoff.accepted":
    case "handoff.rejected":
    case "handoff.withdrawn":
    case "handoff.expired":
    case "item.withdrawn":
    case "budget.raised":
    case "usage.recorded":
    case "way.taken":
    case "status.changed":
    case "signal.ignored":
      return [];
  }
}

/** What waits, what it asks, and the commands that answer it. */
export function waitingLines(item: InboxItem, number: number, run?: Run): readonly string[] {
  const head = `⏸ ${item.kind} ${item.stage} waits for ${item.who}`;
  const asked = askedBy(item)
    .flatMap((text) => text.split("\n").slice(0, 20))
    .map((line) => `    ${oneLine(line, WIDTH)}`);
  // Whoever decides should know what the gate is worth: an agent that runs as the person could reach what the person can.
  const caution = item.kind === "gate" ? [`    ${heldBy(run)}`] : [];
  return [head, ...asked, ...caution, ...answersTo(item, `${number}.${item.number}`).map((command) => `  ${command}`)];
}

function heldBy(run: Run | undefined): string {
  const mode = run === undefined ? null : runFacts(run).config.workspace;
  return mode === "bubblewrap" || mode === "docker" || mode === "podman" || mode === "daytona"
    ? `agents run in a sandbox (${mode})`
    : "agents run as you, without a sandbox";
}

type StagePlace = { readonly n: number; readonly total: number; readonly agent: string };

/** Where an agent's stage stands among those of its track; builtins and the router are not counted. */
function placeOf(flow: Flow, run: Run, track: string, stage: string): StagePlace | undefined {
  const work = findWork(flow, run, track, stage);
  if (work === undefined || work.kind !== "agent") return undefined;
  const agents = stagesOf(flow, run, track).filter((each) => each.kind === "agent" && !each.enterOnly);
  const at = agents.findIndex((each) => each.id === stage);
  return at === -1
    ? { n: 1, total: 1, agent: work.shownAgent }
    : { n: at + 1, total: agents.length, agent: work.shownAgent };
}

/** Where the stage stands among all phases of the flow; what the runner does not report is not known. */
function phaseOf(flow: Flow, stage: string, place: StagePlace) {
  const phases = phasesOf(flow);
  const at = phases.findIndex(({ id }) => id === stage);
  const [number, total] = at === -1 ? [place.n, place.total] : [at + 1, phases.length];
  return { number, total, role: place.agent, model: phases[at]?.model ?? null, toolUses: null };
}

/** What the same decision recorded of the attempt's use. */
function tokensTold(stage: string, attempt: number, later: readonly RunEvent[]): number | null {
  const told = later.find(
    (event) => event.type === "usage.recorded" && event.stage === stage && event.attempt === attempt,
  );
  return told?.type === "usage.recorded" ? tokensOf(told.usage) : null;
}

function fill(template: string, { n, total, agent }: StagePlace): string {
  return template.replaceAll("{n}", String(n)).replaceAll("{total}", String(total)).replaceAll("{agent}", agent);
}

/** Where the same decision led: the first thing after it that says where the track, or the run, stands now. */
function nextOf(track: string, later: readonly RunEvent[]): string {
  for (const event of later) {
    if (event.type === "stage.finished") break;
    if (event.type === "stage.postponed") return "later again";
    if (event.type === "stage.ready") return event.stage;
    if (event.type === "stage.stopped") return "stopped";
    if (event.type === "track.done" && event.track === track) return "joins the others";
    if (event.type === "run.completed") return "end";
    if (event.type === "run.canceled") return "canceled";
    if (event.type === "gate.opened" || event.type === "question.asked" || event.type === "escalation.opened") {
      return `${event.item.kind} ${event.item.stage}`;
    }
  }
  return "…";
}

function maxOf(flow: Flow, key: string): string {
  const name = key in flow.counters ? key : key.slice(key.indexOf(".") + 1);
  return String(flow.counters[name]?.maxLoops ?? "no limit");
}

function personOf(actor: string): string {
  return actor.replace(/^human:/u, "");
}
