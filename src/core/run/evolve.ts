// One event applied to a run. No decisions here: whatever an event says has happened. Replaying is folding this function.

import { addSpent, withRaise } from "../budget/budget.ts";
import type { RunEvent } from "./event.ts";
import type { Run, RunState, StageMemory, Track } from "./run.ts";
import { optional } from "../optional.ts";

export function evolve(run: Run | undefined, event: RunEvent): Run {
  if (event.type === "run.created") {
    return {
      status: "running",
      id: event.id,
      flow: event.flow,
      flowHash: event.flowHash,
      subject: event.subject,
      facts: event.facts,
      createdAt: event.at,
      word: event.word,
      paused: false,
      tracks: {},
      stages: {},
      counters: {},
      taken: [],
      expanded: {},
      handoffs: 0,
      items: 0,
    };
  }
  if (run === undefined) throw new Error(`the first event of a run must be run.created, not ${event.type}`);
  switch (event.type) {
    case "run.waiting":
      return enterState(run, { status: "waiting", since: event.at });
    case "run.resumed":
      return enterState(run, { status: "running" });
    case "run.stopped":
      return enterState(run, { status: "stopped", since: event.at, reason: event.reason });
    case "run.completed":
      return enterState({ ...run, tracks: {} }, { status: "completed", endedAt: event.at });
    case "run.canceled":
      return enterState(
        { ...run, tracks: {} },
        { status: "canceled", endedAt: event.at, by: event.actor, reason: event.reason },
      );
    case "run.paused":
      return { ...run, paused: true };
    case "run.unpaused":
      return { ...run, paused: false };
    case "stage.ready":
      return onTrack(remember(run, event.stage, { attempts: event.attempt }), event.track, {
        at: "ready",
        stage: event.stage,
        attempt: event.attempt,
        carry: event.carry,
        since: event.at,
        ...optional({ notBefore: event.notBefore, because: event.because }),
      });
    case "stage.held": {
      const track = run.tracks[event.track];
      if (track?.at !== "ready") return run;
      return onTrack(run, event.track, { ...track, notBefore: event.until, because: event.cause });
    }
    case "stage.started": {
      const track = run.tracks[event.track];
      if (track?.at !== "ready") return run;
      const { stage, attempt, carry } = track;
      const { reserved } = event;
      return onTrack(run, event.track, {
        at: "running",
        stage,
        attempt,
        carry,
        since: event.at,
        ...(reserved === undefined ? {} : { metered: { runner: reserved.runner, model: reserved.model } }),
        ...optional({ outside: event.outside }),
      });
    }
    case "stage.finished": {
      const { outcome } = event;
      return remember(forgetPostponed(run, event.stage), event.stage, {
        interruptions: 0,
        last: {
          health: outcome.health,
          ...optional({ verdict: outcome.verdict, word: outcome.word, score: outcome.score }),
          issues: outcome.issues.length,
          openQuestions: outcome.questions.length,
        },
      });
    }
    case "stage.interrupted":
      return remember(run, event.stage, { interruptions: (run.stages[event.stage]?.interruptions ?? 0) + 1 });
    case "stage.postponed":
      return remember(run, event.stage, { postponed: event.times });
    case "stage.stopped":
      return onTrack(run, event.track, {
        at: "stopped",
        stage: event.stage,
        reason: event.reason,
        carry: event.carry,
        since: event.at,
      });
    case "stage.expanded":
      return { ...run, expanded: { ...run.expanded, [event.stage]: event.stages } };
    case "tracks.forked":
      return onTrack(run, "main", { at: "forked", stage: event.stage });
    case "track.done":
      return onTrack(run, event.track, { at: "done" });
    case "handoff.created":
      return { ...run, handoffs: event.number };
    case "gate.opened":
    case "question.asked":
    case "escalation.opened":
    case "budget.reached":
      return onTrack({ ...run, items: event.item.number }, event.track, {
        at: "waiting",
        stage: event.item.stage,
        item: event.item,
        carry: event.carry,
      });
    case "counter.changed":
      return {
        ...run,
        counters: {
          ...run.counters,
          [event.key]: {
            loops: event.to,
            ...optional({ issues: event.issues }),
            streak: event.streak,
          },
        },
      };
    case "budget.raised": {
      const { scope, key, usd, tokens } = event;
      return { ...run, raised: withRaise(run.raised ?? [], { scope, key, usd, tokens }) };
    }
    case "budget.warned": {
      const { scope, key, unit, limit } = event;
      const others = (run.warned ?? []).filter((each) => each.scope !== scope || each.unit !== unit);
      return { ...run, warned: [...others, { scope, key, unit, limit }] };
    }
    case "usage.recorded":
      return { ...run, spent: addSpent(run.spent, event.usage) };
    case "way.taken":
      return { ...run, taken: [...run.taken, event.way] };
    case "ticket.edited":
      return { ...run, subject: { ...run.subject, title: event.title, body: event.body } };
    case "status.changed":
      return { ...run, word: event.to };
    case "run.stalled":
    case "stage.timed_out":
    case "stage.canceled":
    case "stage.skipped":
    case "tracks.joined":
    case "handoff.accepted":
    case "handoff.rejected":
    case "handoff.withdrawn":
    case "handoff.expired":
    case "gate.answered":
    case "question.answered":
    case "escalation.resolved":
    case "budget.answered":
    case "item.withdrawn":
    case "counter.spent":
    case "warning.raised":
    case "signal.ignored":
      return run;
  }
}

/** Every field that belongs to one status only: leaving the status removes it. */
type StateFields = { readonly [K in "status" | "since" | "reason" | "endedAt" | "by"]?: string };

/** The order of the keys is fixed, status first and sums last: a stored run is compared with the fold of its events byte for byte. */
function enterState(run: Run, state: RunState): Run {
  const {
    status: _s,
    since: _i,
    reason: _r,
    endedAt: _e,
    by: _b,
    ...rest
  } = run as StateFields & Omit<Run, keyof StateFields>;
  const { spent, raised, warned, ...common } = rest;
  return { ...state, ...common, ...optional({ spent, raised, warned }) };
}

function onTrack(run: Run, name: string, track: Track): Run {
  return { ...run, tracks: { ...run.tracks, [name]: track } };
}

/** Whatever way an attempt ended by itself: a row of postponements is over, unless this end is put off as well. */
function forgetPostponed(run: Run, stage: string): Run {
  const memory = run.stages[stage];
  if (memory?.postponed === undefined) return run;
  const { postponed: _row, ...rest } = memory;
  return { ...run, stages: { ...run.stages, [stage]: rest } };
}

function remember(run: Run, stage: string, change: Partial<StageMemory>): Run {
  const before = run.stages[stage] ?? { attempts: 0, interruptions: 0 };
  return { ...run, stages: { ...run.stages, [stage]: { ...before, ...change } } };
}
