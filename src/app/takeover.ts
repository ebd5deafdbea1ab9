// A stage that a person has taken over, as doors show it: where they work, and the command that opens its session.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { runnerLadder } from "../core/flow/runner-choice.ts";
import { isConfining } from "../core/flow/workspace-mode.ts";
import { type Run, takenOver } from "../core/run/run.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { findWork } from "../core/run/sequence.ts";
import { sessionCommand, sessionPlaces } from "../runner/session-command.ts";
import type { Settings } from "../settings/settings.ts";
import type { AttemptRecord, Store } from "../store/store.ts";

export type Takeover = {
  readonly stage: string;
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  /** The folder to work in; null while the agent still ends. */
  readonly dir: string | null;
  /** Program and arguments that continue the agent's session in that folder; null without a session. */
  readonly command: readonly string[] | null;
  /** Variables of the settings that the program needs to find its session. */
  readonly env: Readonly<Record<string, string>>;
  /** Why there is no command; empty if there is one. */
  readonly note: string;
  /** Why the last attempt to hand it back failed; null if there was none. */
  readonly refused: string | null;
};

export type TakeoverLook = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  /** Oldest first. */
  readonly attempts: readonly AttemptRecord[];
  readonly programs: Settings["programs"];
};

/** Null if no stage of the run is taken over. */
export function takeoverOf(look: TakeoverLook): Takeover | null {
  const found = takenOver(look.run);
  if (found === undefined) return null;
  const { stage, by, since, lent, refused = null } = found.track;
  return { stage, by, since, dir: lent?.dir ?? null, ...sessionOf(look, found.name, stage), refused };
}

function sessionOf(
  { resolved, run, attempts, programs }: TakeoverLook,
  track: string,
  id: string,
): Pick<Takeover, "command" | "env" | "note"> {
  const none = (note: string) => ({ command: null, env: {}, note });
  const stage = findWork(resolved.flow, run, track, id);
  const ladder = stage === undefined ? [] : runnerLadder(resolved, run.facts, stage);
  const last = attempts.findLast((each) => each.stage === id && attemptFacts(each).runner !== null);
  if (ladder.length === 0 || last === undefined) return none("No agent has worked on it yet, so there is no session.");
  const { runner, session, mode } = attemptFacts(last);
  if (runner === "command" || runner === "acp") return none(`A ${runner} agent has no session that you could open.`);
  const play = ladder.find((choice) => choice.runner === runner);
  if (session === null || play === undefined) return none("Its agent left no session.");
  if (isConfining(mode ?? workspaceMode(resolved, run)))
    return none("Its agent works in a sandbox, and its session is in there. It continues when you hand back.");
  const program = programs[play.runner];
  const command = sessionCommand(play.runner, play.command ?? program?.command ?? [play.runner], session.id);
  if (command === null) return none(`The session ${session.id.slice(0, 100)} cannot be opened by its id.`);
  return { command, env: sessionPlaces(program?.env), note: "" };
}

/** Resolves when the engine has acted on what the person asked: the workspace is theirs, or it is handed back or refused. */
export async function takeoverSettled(
  store: Pick<Store, "loadRun">,
  runId: string,
  { waitMs, pause }: { readonly waitMs: number; readonly pause: () => Promise<unknown> },
): Promise<Run | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const run = (await store.loadRun(runId))?.run;
    const track = run === undefined ? undefined : takenOver(run)?.track;
    const isSettled = track === undefined || (track.lent !== undefined && track.returning === undefined);
    if (isSettled || performance.now() > deadline) return run;
    await pause();
  }
}
