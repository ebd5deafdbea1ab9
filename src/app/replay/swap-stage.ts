// `replay --swap qa=codex`: one stage anew, with another runner, on the inputs that were recorded. Its model is really asked, through the
// gateway. Only the comparison with the recorded attempt remains of it.

import { readFile } from "node:fs/promises";
import { attemptFiles } from "../../attempt/attempt-files.ts";
import type { Budgets } from "../../core/budget/budget.ts";
import type { AttemptRoom } from "../../core/budget/room.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { type Issue, issueText } from "../../core/flow/outcome.ts";
import { runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ComparedResult, ShownResult } from "../../core/replay/compare.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { findWork } from "../../core/run/sequence.ts";
import { type Readable, statOfDiff } from "../../file/diff-stat.ts";
import { openRunners } from "../../runner/open.ts";
import { flowOf } from "../../store/flow-of.ts";
import { createWorkspaces } from "../../workspace/providers.ts";
import { chosenRunners } from "../chosen-runners.ts";
import type { FoundRun } from "../find-run.ts";
import { unreadyProgram } from "../start-run/unready-program.ts";
import { chooseMode } from "./choose-mode.ts";
import { findRecorded, nameOf, type TapedAttempt } from "./find-taped.ts";
import { openReplayPlace } from "./place.ts";
import { compared, prepared, type ReplaySite } from "./replay-run.ts";
import { workAgain } from "./work-again.ts";

export type Swap = {
  /** `qa=codex`; the stage's last attempt that has ended, or, as `qa#2=codex`, this one. */
  readonly choice: string;
  readonly model?: string;
};

export type SwapSide = ShownResult & {
  readonly runner: string;
  readonly model: string | null;
  readonly issues: readonly string[];
  readonly usage: Usage | null;
  readonly diff: { readonly files: number; readonly added: number; readonly removed: number };
};

export type SwapReport = Pick<ComparedResult, "sameVerdict" | "differs"> & {
  readonly run: string;
  readonly stage: string;
  readonly attempt: number;
  readonly sameDiff: boolean;
  readonly recorded: SwapSide;
  readonly swapped: SwapSide;
};

export async function swapStage(site: ReplaySite, { run }: FoundRun, swap: Swap): Promise<Result<SwapReport>> {
  const { home, store, environment, settings, signal } = site;
  const parts = /^([^=#]+)(#[0-9]{1,6})?=(.+)$/u.exec(swap.choice);
  if (parts === null)
    return err({
      code: "swap_unclear",
      message: `"${swap.choice}" names no stage and no runner.`,
      hint: "--swap qa=codex",
    });
  const [, stage = "", number = "", runner = ""] = parts;
  const found = await findRecorded(store, run, `${stage}${number}`);
  if (!found.ok) return found;
  const attempt = found.value.attempts.at(-1) as TapedAttempt;
  const resolved = await flowOf(store, run);
  const played = await playedBy(site, resolved, attempt, { ...swap, choice: `${stage}=${runner}` });
  if (!played.ok) return played;
  const chosen = await chooseMode(site, run, [attempt]);
  if (!chosen.ok) return chosen;
  const mode = chosen.value;
  const place = await openReplayPlace(home, site.project, [attempt], mode);
  if (!place.ok) return place;
  const gateway = { ...settings.gateway, ...(settings.gateway.mode === "off" ? { mode: "on" as const } : {}) };
  const runners = openRunners(environment, { ...settings, gateway });
  try {
    const ready = await place.value.prepare(attempt);
    if (!ready.ok) return ready;
    site.onAttempt(nameOf(attempt.record));
    const again = await workAgain(attempt, {
      resolved,
      place: place.value,
      runners,
      workspaces: createWorkspaces({ home: place.value.home, settings: prepared(settings), environment })(mode),
      records: await store.attempts(run.id),
      sessions: new Map(),
      play: played.value,
      knewApi: false,
      room: roomIn(settings.budgets, run.id),
      signal,
    });
    if (signal.aborted) return err({ code: "interrupted", message: "The stage was interrupted." });
    const result = compared(home, attempt, again, {});
    const { record, facts } = attempt;
    const [before, now]: readonly [JsonObject, JsonObject] = [record.outcome ?? {}, again.outcome];
    const { diff } = attemptFiles(home, run.id, record.stage, record.attempt);
    const was = await sideOf(result.recorded, before, await readFile(diff, "utf8").catch(() => ""));
    const is = await sideOf(result.replayed, now, again.diff);
    const { usage, model = null } = again.usage ?? { usage: null };
    return ok({
      run: run.id,
      stage: record.stage,
      attempt: record.attempt,
      sameVerdict: result.sameVerdict,
      differs: result.differs,
      sameDiff: result.sameDiff,
      recorded: { ...was, runner: facts.runner ?? "", model: facts.model, usage: facts.usage },
      swapped: { ...is, runner: played.value.runner, model: model ?? played.value.options.model ?? null, usage },
    });
  } finally {
    await runners.desk.close();
    await place.value.close();
  }
}

/** As `runs retry --agent` would play the stage, if its program can start. */
async function playedBy(site: ReplaySite, resolved: ResolvedFlow, { record, run }: TapedAttempt, swap: Swap) {
  const models = swap.model === undefined ? [] : [`${record.stage}=${swap.model}`];
  const chosen = chosenRunners(resolved, run, { agents: [swap.choice], models, cwd: site.project });
  if (!chosen.ok) return chosen;
  const stage = findWork(resolved.flow, run, record.track, record.stage);
  const facts = { ...run.facts, runners: { ...(run.facts["runners"] as JsonObject), ...chosen.value } };
  const play = stage === undefined ? undefined : runnerChoiceOf(resolved, facts, stage);
  if (stage === undefined || play === undefined)
    return err({ code: "swap_unclear", message: `Nothing plays ${record.stage} with ${swap.choice}.` });
  const machine = {
    environment: site.environment,
    project: site.project,
    mode: "worktree" as const,
    config: site.settings,
  };
  const unready = await unreadyProgram(resolved, facts, [stage], machine);
  return unready === undefined ? ok(play) : err(unready);
}

/** The settings' limit of a run holds for this one attempt; it is in no run's books. */
function roomIn({ run: limits }: Budgets, key: string): AttemptRoom {
  return (["usd", "tokens"] as const).flatMap((unit) => {
    const limit = limits[unit];
    return limit === null ? [] : [{ scope: "run" as const, key, unit, limit, size: limit, left: limit, needed: 0 }];
  });
}

async function sideOf(
  result: ShownResult,
  { issues }: JsonObject,
  diff: string,
): Promise<Omit<SwapSide, "runner" | "model" | "usage">> {
  const bytes = Buffer.from(diff);
  const text: Readable = {
    read: async (piece, offset, length, position) => ({
      bytesRead: bytes.copy(piece, offset, position, Math.min(bytes.length, position + length)),
    }),
  };
  const { files, added, removed } = await statOfDiff(text);
  const list: readonly Json[] = Array.isArray(issues) ? issues : [];
  return {
    ...result,
    issues: list.map((issue) => issueText(issue as Issue)),
    diff: { files: files.length, added, removed },
  };
}
