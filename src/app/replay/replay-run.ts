// `replay`: the recorded attempts of a run once more, with the real programs and the recorded answers of their models.
// A replay asks no server and changes neither the run nor the project's repository. Each result is compared with the
// recorded one.

import { existsSync, readFileSync } from "node:fs";
import { attemptFiles } from "../../attempt/attempt-files.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { type ComparedResult, compareResults } from "../../core/replay/compare.ts";
import type { RequestDifference } from "../../core/replay/find-answer.ts";
import { namedPlaces } from "../../core/replay/places.ts";
import { steadyText } from "../../core/replay/request-shape.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { createPlayback, type PlayedRequest } from "../../gateway/playback.ts";
import { openRunners, type RunnerSettings } from "../../runner/open.ts";
import type { Runners } from "../../runner/runners.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { AttemptRecord, Store } from "../../store/store.ts";
import { createWorkspaces } from "../../workspace/providers.ts";
import type { FoundRun } from "../find-run.ts";
import { chooseMode } from "./choose-mode.ts";
import { findTaped, type LeftOut, nameOf, type TapedAttempt, type WithTape } from "./find-taped.ts";
import { openReplayPlace, type ReplayPlace } from "./place.ts";
import { createSaidAgain } from "./said-again.ts";
import { workAgain, type WorkedAgain } from "./work-again.ts";

export type ReplaySite = {
  /** The state folder, its links resolved. */
  readonly home: string;
  /** The project in whose repository the commits are. */
  readonly project: string;
  readonly environment: Environment;
  readonly settings: Settings;
  readonly store: Store;
  /** The kind of workspace that a person chose. */
  readonly workspace?: string;
  readonly signal: AbortSignal;
  readonly onAttempt: (name: string) => void;
};

export type ReplayedAttempt = ComparedResult & {
  readonly stage: string;
  readonly attempt: number;
  readonly runner: string;
  /** Whether it left the same changes. */
  readonly sameDiff: boolean;
  readonly requests: PlayedRequests;
  /** The part of its inputs that is not recorded; null if all are. */
  readonly without: string | null;
};

/** How the requests of the replay met those of the tape. */
export type PlayedRequests = {
  readonly onTape: number;
  readonly same: number;
  /** Answered, with what was different about them. */
  readonly different: readonly { readonly number: number; readonly differences: readonly RequestDifference[] }[];
  /** Not answered, with the reason. */
  readonly unanswered: readonly string[];
};

export type ReplayReport = {
  readonly run: string;
  readonly attempts: readonly ReplayedAttempt[];
  readonly leftOut: readonly LeftOut[];
};

export async function replayRun(
  site: ReplaySite,
  { run }: FoundRun,
  stage: string | undefined,
): Promise<Result<ReplayReport>> {
  const { home, store, environment, settings } = site;
  const found = await findTaped(home, store, run, stage);
  if (!found.ok) return found;
  const { attempts, leftOut } = found.value;
  const chosen = await chooseMode(site, run, attempts);
  if (!chosen.ok) return chosen;
  const mode = chosen.value;
  const place = await openReplayPlace(home, site.project, attempts, mode);
  if (!place.ok) return place;
  const runners = openRunners(environment, offline(settings));
  try {
    const replayed: ReplayedAttempt[] = [];
    const sessions = new Map<string, string>();
    const shared = {
      resolved: await flowOf(store, run),
      place: place.value,
      runners,
      workspaces: createWorkspaces({ home: place.value.home, settings: prepared(settings), environment })(mode),
      records: await store.attempts(run.id),
      sessions,
      signal: site.signal,
    };
    for (const attempt of attempts) {
      if (site.signal.aborted) return err({ code: "interrupted", message: "The replay was interrupted." });
      site.onAttempt(nameOf(attempt.record));
      const done = await replayOne(home, attempt, shared);
      if (!done.ok) return done;
      const { session, ...compared } = done.value;
      if (session !== null) sessions.set(nameOf(attempt.record), session);
      replayed.push(compared);
    }
    return ok({ run: run.id, attempts: replayed, leftOut });
  } finally {
    await runners.desk.close();
    await place.value.close();
  }
}

type Shared = {
  readonly resolved: ResolvedFlow;
  readonly place: ReplayPlace;
  readonly runners: Runners;
  readonly workspaces: ReturnType<ReturnType<typeof createWorkspaces>>;
  readonly records: readonly AttemptRecord[];
  readonly sessions: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
};

async function replayOne(
  home: string,
  attempt: WithTape,
  shared: Shared,
): Promise<Result<ReplayedAttempt & { readonly session: string | null }>> {
  const { tape, record, facts } = attempt;
  const played: PlayedRequest[] = [];
  const { redact } = shared.runners;
  const said = createSaidAgain(attempt.heard, tape.exchanges, redact);
  const onPlayed = (each: PlayedRequest): void => void played.push(each);
  const playback = createPlayback({ tape, redact, onPlayed, before: said.before });
  const ready = await shared.place.prepare(attempt);
  if (!ready.ok) return ready;
  const again = await workAgain(attempt, {
    ...shared,
    playback,
    onMailbox: said.into,
    room: [],
    knewApi: (tape.places?.["url"] ?? "") !== "",
  });
  await shared.place.settle(attempt);
  return ok({
    stage: record.stage,
    attempt: record.attempt,
    runner: facts.runner ?? "",
    session: again.session,
    requests: countedRequests(tape.exchanges.length, played),
    without: facts.mode === "in-place" ? UNCOMMITTED : null,
    ...compared(home, attempt, again, tape.places ?? {}),
  });
}

const UNCOMMITTED =
  "it worked in the project's own folder; files there that were not committed are no part of the replay";

/** Results and diffs, with the places of each attempt replaced by their names. */
export function compared(
  home: string,
  { record, facts }: TapedAttempt,
  { outcome, diff, job, workspace }: WorkedAgain,
  recorded: Readonly<Record<string, string>>,
): ComparedResult & Pick<ReplayedAttempt, "sameDiff"> {
  const { nonce, token, project, home: own, files } = job;
  const replayed = { nonce, token, project, home: own, result: files.result, workspace: workspace ?? "" };
  const known = { home, workspace: facts.workspace ?? "", ...recorded };
  const [before, now] = [namedPlaces(known), namedPlaces(replayed)];
  const { diff: path } = attemptFiles(home, record.runId, record.stage, record.attempt);
  const was = existsSync(path) ? readFileSync(path, "utf8") : "";
  return {
    ...compareResults(record.outcome ?? {}, outcome, before, now),
    sameDiff: steadyText(before(was)) === steadyText(now(diff)),
  };
}

function countedRequests(onTape: number, played: readonly PlayedRequest[]): PlayedRequests {
  return {
    onTape,
    same: played.filter(({ type }) => type === "same").length,
    different: played.flatMap((each) =>
      each.type === "different" ? [{ number: each.number, differences: each.differences.slice(0, 20) }] : [],
    ),
    unanswered: played.flatMap((each) => (each.type === "unanswered" ? [each.why] : [])),
  };
}

/** The copy of the repository has no files besides its commits. */
export function prepared({ workspaces }: Settings): Settings["workspaces"] {
  return { ...workspaces, copy: [] };
}

/** A program behind a gateway needs a key, which the gateway replaces. This key is never sent to a vendor. */
const NO_KEY = "passrail-replay-has-no-key";
const STAND_INS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  claude: { ANTHROPIC_API_KEY: NO_KEY },
  codex: { CODEX_API_KEY: NO_KEY },
  gemini: { GEMINI_API_KEY: NO_KEY },
};

/** No other host is reached, and nothing is recorded. */
function offline({ programs, passEnvironment, enclosure }: Settings): RunnerSettings {
  const keyed = Object.entries(STAND_INS).map(([name, env]) => {
    const program = programs[name as keyof typeof programs];
    return [name, { ...program, env: { ...env, ...program?.env } }];
  });
  return {
    passEnvironment,
    enclosure,
    programs: { ...programs, ...(Object.fromEntries(keyed) as Settings["programs"]) },
    gateway: { mode: "required", egress: [], private: [], tape: "off" },
  };
}
