// The handoffs of the stages before, where this attempt's program can read them: copies in its channel, or in the workspace where the flow wants
// them. Records of other attempts are out of reach for sandboxes, and for programs that read only their own folders. Nothing is read back from the
// copies. Also the place of the attempt's own handoff.

import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type HandoffNames, handoffPath } from "../core/flow/handoff-path.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { withoutNonces } from "../core/prompt/quote.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { findWork } from "../core/run/sequence.ts";
import { lookConfined, makeFolders, readConfined, writeConfined } from "../file/confined.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type AttemptFiles, attemptFiles, readAgentFile } from "./attempt-files.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { untampered } from "./tampered.ts";

export type HandedOver = {
  /** Where the agent writes its own handoff. */
  readonly own: string;
  /** Whether that is in the workspace. */
  readonly inWorkspace: boolean;
  /** Whether a file of the workspace, by its path there, is a handoff. */
  isHandoff(file: string): boolean;
  /** Where it reads the handoff of another attempt; null if that left none. */
  pathOf(stage: string, attempt: number): string | null;
  /** The folders outside the workspace that it must be able to read. */
  readonly folders: readonly string[];
  /** After the attempt: its own handoff into the channel, and the workspace without ours unless the flow commits them. */
  close(): Promise<void>;
};

/** The next agent reads no more than this of a handoff. */
const HANDOFF_BYTES = 1024 * 1024;
const IGNORE = "# Handoffs of a running attempt; not for commits.\n*\n";

/** Programs on another machine get git's files and the attempt's folders, and no ignored file of the workspace. */
const REMOTE: ReadonlySet<WorkspaceMode> = new Set(["daytona"]);

export async function handOver(
  job: AttemptJob,
  ports: AttemptPorts,
  workspace: Workspace,
): Promise<Result<HandedOver>> {
  const template = REMOTE.has(workspace.mode) ? undefined : job.resolved.flow.handoffs.path;
  const earlier = latest(await ports.earlierAttempts()).filter((record) => leavesHandoff(job, record));
  const texts = await Promise.all(earlier.map((record) => textOf(job, record)));
  const handed = earlier.flatMap((record, index) => {
    const text = texts[index];
    return text === undefined ? [] : [{ record, text: withoutNonces(text) }];
  });
  return template === undefined ? ok(inChannel(job, handed)) : inWorkspace(job, ports, workspace, template, handed);
}

type Handed = { readonly record: EarlierAttempt; readonly text: string };

/** What each stage handed on last. */
function latest(attempts: readonly EarlierAttempt[]): readonly EarlierAttempt[] {
  const done = attempts.filter(({ status, outcome }) => status === "done" && outcome !== null);
  return done.filter((each, index) => !done.slice(index + 1).some(({ stage }) => stage === each.stage));
}

function leavesHandoff({ resolved, run }: AttemptJob, { track, stage }: EarlierAttempt): boolean {
  return findWork(resolved.flow, run, track, stage)?.result.from === "handoff-file";
}

function textOf({ home }: AttemptJob, { runId, stage, attempt }: EarlierAttempt): Promise<string | undefined> {
  return readAgentFile(home, attemptFiles(home, runId, stage, attempt).handoff, HANDOFF_BYTES);
}

function inChannel({ home, files }: AttemptJob, handed: readonly Handed[]): HandedOver {
  const folder = join(dirname(files.result), "handoffs");
  const pathOf = (stage: string, attempt: number): string => join(folder, `${stage}-${attempt}.md`);
  if (handed.length > 0) untampered(makeFolders(home, folder, 0o700));
  for (const { record, text } of handed)
    untampered(writeConfined(home, pathOf(record.stage, record.attempt), text, 0o400));
  return {
    own: files.handoff,
    inWorkspace: false,
    isHandoff: () => false,
    pathOf: (stage, attempt) => (has(handed, stage, attempt) ? pathOf(stage, attempt) : null),
    folders: handed.length === 0 ? [] : [folder],
    // The channel takes them along.
    close: async () => {},
  };
}

async function inWorkspace(
  job: AttemptJob,
  ports: AttemptPorts,
  { dir: root }: Workspace,
  template: string,
  handed: readonly Handed[],
): Promise<Result<HandedOver>> {
  const { files, run, stage, track, attempt } = job;
  const isCommitted = job.resolved.flow.handoffs.commit === true;
  const pathFor = (names: Pick<HandoffNames, "track" | "stage" | "role" | "iteration">): string =>
    join(root, handoffPath(template, { feature: run.subject.id, run: run.id, ...names }));
  const ownAt = (iteration: number): string => pathFor({ track, stage: stage.id, role: stage.agent, iteration });
  const pathOf = (record: EarlierAttempt): string => {
    const role = findWork(job.resolved.flow, run, record.track, record.stage)?.agent ?? record.stage;
    return pathFor({ track: record.track, stage: record.stage, role, iteration: record.attempt });
  };
  const own = ownAt(attempt);
  const paths = [own, ...handed.map(({ record }) => pathOf(record))];
  const folders = new Set(paths.map((path) => dirname(path)));
  for (const folder of folders) {
    const opened = openFolder(root, folder);
    if (!opened.ok) return opened;
  }
  // What an attempt that was cut off left there.
  if (!isCommitted)
    await removeFiles(
      root,
      Array.from({ length: attempt - 1 }, (_, index) => ownAt(index + 1)),
    );
  if (untampered(lookConfined(root, own)) !== undefined) return err(taken(own));
  for (const { record, text } of handed) {
    const path = pathOf(record);
    if (isCommitted && untampered(lookConfined(root, path)) !== undefined) continue;
    untampered(writeConfined(root, path, text, 0o444));
  }
  return ok({
    own,
    inWorkspace: true,
    isHandoff: (file) => folders.has(dirname(join(root, file))),
    pathOf: (name, iteration) => {
      const found = handed.find(({ record }) => record.stage === name && record.attempt === iteration);
      return found === undefined ? null : pathOf(found.record);
    },
    folders: [],
    async close() {
      await keep(root, own, files, ports.runners.redact);
      await (isCommitted ? removeFiles(root, paths.map(ignoreIn)) : clear(root, paths));
    },
  });
}

const has = (handed: readonly Handed[], stage: string, attempt: number): boolean =>
  handed.some(({ record }) => record.stage === stage && record.attempt === attempt);

/** A handoff that is there before the attempt is somebody else's file: it is neither believed nor overwritten. */
function taken(path: string): Problem {
  return {
    code: "handoff_path_taken",
    message: `${path} is where this attempt would write its handoff, and it exists already`,
    hint: "move it away, or give handoffs.path of the flow another name, such as one with {run}",
  };
}

const ignoreIn = (path: string): string => join(dirname(path), ".gitignore");

/** While the attempt works, git does not see what is in the folder: a handoff is no work, and gets into no commit by accident. */
function openFolder(root: string, folder: string): Result<null> {
  untampered(makeFolders(root, folder));
  const ignore = join(folder, ".gitignore");
  const found = untampered(readConfined(root, ignore, HANDOFF_BYTES));
  if (found === IGNORE) return ok(null);
  if (found === undefined) return ok(untampered(writeConfined(root, ignore, IGNORE, 0o644)));
  const message = `${ignore} exists already, and handoffs.path of the flow needs a folder of its own`;
  return err({ code: "handoff_path_taken", message, hint: "name another folder in handoffs.path" });
}

/** The record has every handoff, wherever it was written. */
async function keep(root: string, own: string, files: AttemptFiles, redact: (text: string) => string): Promise<void> {
  const text = await readAgentFile(root, own, HANDOFF_BYTES);
  if (text === undefined || untampered(lookConfined(files.home, files.handoff)) !== undefined) return;
  untampered(writeConfined(files.home, files.handoff, redact(text)));
}

async function removeFiles(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) if (lookConfined(root, path).ok) await rm(path, { recursive: true, force: true });
}

/** The files, and the folders that hold nothing else; others belong to somebody. */
async function clear(root: string, paths: readonly string[]): Promise<void> {
  await removeFiles(root, paths);
  for (const path of paths) {
    let folder = dirname(path);
    if (!lookConfined(root, folder).ok) continue;
    const left = await readdir(folder).catch(() => []);
    if (left.length !== 1 || left[0] !== ".gitignore") continue;
    await removeFiles(root, [ignoreIn(path)]);
    for (; folder.startsWith(`${root}/`); folder = dirname(folder)) {
      const isGone = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!isGone) break;
    }
  }
}
