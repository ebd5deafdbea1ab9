// One recorded attempt once more, in the place of a replay: the same stage, the same inputs, the same code as every attempt, with ports that
// lead nowhere. Its requests to models are answered by a playback, or, without one, by their vendors.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { attemptFiles, channelFiles, markerOf, storeMark } from "../../attempt/attempt-files.ts";
import type { EarlierAttempt } from "../../attempt/earlier-attempt.ts";
import type { AttemptFacts } from "../../core/attempt-facts.ts";
import type { AttemptJob, AttemptPorts } from "../../attempt/job.ts";
import { createMailbox, type Mailbox } from "../../attempt/mailbox.ts";
import { runStage } from "../../attempt/run-stage.ts";
import type { AttemptRoom } from "../../core/budget/room.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Outcome, Report } from "../../core/flow/outcome.ts";
import { type RunnerChoice, runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import type { JsonObject } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { waitingMessages } from "../../core/run/message.ts";
import { repositorySettings } from "../../core/run/run-settings.ts";
import { findWork } from "../../core/run/sequence.ts";
import { judge } from "../../core/verdict/judge.ts";
import { readYamlList } from "../../file/yaml-list.ts";
import type { Playback } from "../../gateway/playback.ts";
import type { Runners } from "../../runner/runners.ts";
import type { AttemptRecord } from "../../store/store.ts";
import type { Workspace, Workspaces } from "../../workspace/workspace.ts";
import type { TapedAttempt } from "./find-taped.ts";
import type { ReplayPlace } from "./place.ts";

export type AgainOptions = {
  readonly resolved: ResolvedFlow;
  readonly place: ReplayPlace;
  readonly runners: Runners;
  readonly workspaces: Workspaces;
  /** Every attempt of the run. */
  readonly records: readonly AttemptRecord[];
  /** The session of each attempt that was replayed before, by `stage#attempt`. */
  readonly sessions: ReadonlyMap<string, string>;
  /** Another way to play the stage; absent: as recorded. */
  readonly play?: RunnerChoice;
  readonly playback?: Playback;
  /** Gets the mailbox of the agent, for what people said to it while it worked. */
  readonly onMailbox?: (mailbox: Mailbox) => void;
  /** Whether the recorded prompt named an API: then the new prompt names one that does not answer. */
  readonly knewApi: boolean;
  readonly room: AttemptRoom;
  readonly signal: AbortSignal;
};

export type WorkedAgain = {
  readonly outcome: Outcome;
  readonly usage: Report["usage"];
  readonly diff: string;
  readonly session: string | null;
  /** The job's own folders and secrets, under the names of a tape. */
  readonly job: AttemptJob;
  readonly workspace: string | null;
};

export async function workAgain(attempt: TapedAttempt, options: AgainOptions): Promise<WorkedAgain> {
  const { workspaces } = options;
  const { runId } = attempt.record;
  const job = jobAgain(attempt, options);
  const noted: Record<string, unknown> = {};
  try {
    const report = await runStage(
      job,
      portsAgain(attempt, options, (facts) => void Object.assign(noted, facts)),
    );
    const session = noted["session"] as { readonly id?: string } | undefined;
    return {
      outcome: judge(options.resolved.flow.words, job.stage, report),
      usage: report.usage,
      diff: await readFile(job.files.diff, "utf8").catch(() => ""),
      session: session?.id ?? null,
      job,
      workspace: typeof noted["workspace"] === "string" ? noted["workspace"] : null,
    };
  } finally {
    for (const left of (await workspaces.left?.(runId)) ?? [])
      await closeButHome(workspaces, left, runId, join(options.place.home, "homes"));
  }
}

/** A sandbox's home goes with its workspace, but a later attempt continues the session that lies there. */
async function closeButHome(workspaces: Workspaces, left: Workspace, runId: string, aside: string): Promise<void> {
  const { home, logins } = (await workspaces.privateFolders?.(left)) ?? { home: "", logins: [] };
  const folders = [home, ...logins].filter((folder) => existsSync(folder));
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const [index, folder] of folders.entries()) await rename(folder, join(aside, String(index)));
  await workspaces.close(left, runId);
  for (const [index, folder] of folders.entries()) {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await rename(join(aside, String(index)), folder);
  }
}

function jobAgain({ record, run, facts, from }: TapedAttempt, options: AgainOptions): AttemptJob {
  const { resolved, place } = options;
  const { home, project } = place;
  const { stage: id, attempt, track } = record;
  const stage = findWork(resolved.flow, run, track, id);
  const state = run.tracks[track];
  if (stage === undefined || state?.at !== "running")
    throw new Error(`${id}#${attempt} is not running in its own history`);
  const newSecret = (): string => randomUUID().replaceAll("-", "");
  const key = basename(facts.workspace ?? "");
  return {
    resolved,
    run,
    track,
    stage,
    attempt,
    carry: state.carry,
    marker: markerOf(storeMark(home), run.id, stage.id, attempt),
    nonce: newSecret(),
    token: newSecret(),
    files: channelFiles(attemptFiles(home, run.id, stage.id, attempt), newSecret()),
    home,
    play: options.play ?? runnerChoiceOf(resolved, run.facts, stage, (state.rung?.number ?? 1) - 1) ?? null,
    rung: state.rung ?? null,
    repositorySettings: repositorySettings(run),
    project,
    keepWorkspaces: false,
    // No daemon answers for a replay.
    url: options.knewApi ? NOWHERE : "",
    start: {
      key: key.startsWith(run.id) && /^[a-z0-9][a-z0-9-]{0,127}$/u.test(key) ? key : run.id,
      branch: facts.branch ?? `passrail/${run.id}`,
      commit: from,
    },
  };
}

const NOWHERE = "http://127.0.0.1:9";

function portsAgain(
  { record, run, facts }: TapedAttempt,
  { onMailbox, playback, records, room, runners, sessions, signal, workspaces }: AgainOptions,
  note: (facts: JsonObject) => void,
): AttemptPorts {
  const earlier = earlierOf(record, records, sessions);
  const messages = createMailbox(waitingMessages(run, record.stage), async () => {});
  onMailbox?.(messages);
  return {
    runners,
    builtins: {},
    workspaces,
    earlierAttempts: async () => earlier,
    note: async (facts) => note(facts),
    isSettled: async () => false,
    checkCache: { find: async () => undefined, save: async () => {} },
    offerCheck: () => {},
    outward: {
      intend: async () => ({ type: "refused", why: "a replay acts on nothing outside" }),
      see: async () => {},
    },
    askPermission: async () => undefined,
    expirePermission: async () => undefined,
    askQuestion: answersOf(facts),
    expireQuestion: async () => undefined,
    room: () => room,
    messages,
    spent: () => {},
    ...optional({ playback }),
    readYaml: readYamlList,
    now: () => new Date().toISOString(),
    signal,
  };
}

/** What people answered in place, in their order; the same question gets it again. */
function answersOf({ answers }: AttemptFacts): AttemptPorts["askQuestion"] {
  const left = [...answers];
  return async ({ question }) => {
    const at = left.findIndex((each) => each.question === question);
    const [found] = at === -1 ? [] : left.splice(at, 1);
    return found === undefined ? { type: "none" } : { type: "answer", text: found.answer };
  };
}

/** As they were when this attempt started. A session that was replayed has another id now. */
function earlierOf(
  { startedAt }: AttemptRecord,
  records: readonly AttemptRecord[],
  sessions: ReadonlyMap<string, string>,
): readonly EarlierAttempt[] {
  const began = startedAt ?? "";
  const before = records.filter((each) => each.startedAt !== null && each.startedAt < began);
  return before.map((each) => {
    const id = sessions.get(`${each.stage}#${each.attempt}`);
    const { strays: _strays, process: _process, ...facts } = each.facts;
    const session = id === undefined ? {} : { session: { ...(facts["session"] as JsonObject), id } };
    const hasEnded = each.endedAt !== null && each.endedAt <= began;
    return hasEnded
      ? { ...each, facts: { ...facts, ...session } }
      : { ...each, status: "running", endedAt: null, outcome: null, facts };
  });
}
