// The order for a worker: the job without anything of this machine, and the texts of the run that the attempt reads.

import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attemptFiles } from "../attempt/attempt-files.ts";
import type { EarlierAttempt } from "../attempt/earlier-attempt.ts";
import type { AttemptJob, AttemptStart } from "../attempt/job.ts";
import { REPLACED_REVIEW } from "../attempt/read-context.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { AttemptRoom } from "../core/budget/room.ts";
import { readConfined } from "../file/confined.ts";
import { readConfig } from "../git/git.ts";
import { committer } from "../git/pin.ts";
import type { Repository } from "../git/repository.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import type { OrderedProject, WorkerOrder } from "./messages.ts";

export type OrderParts = {
  readonly job: AttemptJob;
  readonly start: AttemptStart;
  readonly repository: Repository;
  readonly worker: string;
  readonly earlier: readonly EarlierAttempt[];
  readonly room: AttemptRoom;
  readonly workspaces: WorkspaceSettings;
};

export async function orderOf({
  job,
  start,
  repository,
  worker,
  earlier,
  room,
  workspaces,
}: OrderParts): Promise<WorkerOrder> {
  const { files: _files, home, project: _project, url: _url, start: _start, ...rest } = job;
  return {
    job: rest,
    start,
    project: await projectIn(repository),
    earlier: earlier.map((record) => forWorker(record, worker)),
    room,
    workspaces,
    texts: textsOf(home, job, earlier),
  };
}

/** The address of its remote identifies a project everywhere; without one its place on the node does. */
async function projectIn(repository: Repository): Promise<OrderedProject> {
  const config = await readConfig(repository.top, repository);
  const remote = config.ok ? config.value.findLast(([key]) => key === "remote.origin.url")?.[1] : undefined;
  // A password in the address is nobody's identity.
  const named = (remote ?? repository.commonDir)
    .replace(/^([a-z+]+:\/\/)[^/@]*@/u, "$1")
    .replace(/(?:\/?\.git)?\/*$/u, "");
  const short = (named.split(/[/:]/u).at(-1) ?? "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/gu, "-")
    .replace(/^-+/u, "");
  const hash = createHash("sha256").update(named).digest("hex").slice(0, 8);
  const by = await committer(repository);
  return {
    id: `${short === "" ? "project" : short.slice(0, 40)}-${hash}`,
    prefix: repository.prefix,
    committer: by.ok ? by.value : { name: "Passrail", email: "passrail@localhost" },
  };
}

/** A session is on the machine where its agent worked; elsewhere the attempt begins a fresh one. */
function forWorker(record: EarlierAttempt, worker: string): EarlierAttempt {
  return attemptFacts(record).claim?.worker === worker ? record : withoutSession(record);
}

/** What this machine may use of attempts that workers carried out. */
export function forHere(record: EarlierAttempt): EarlierAttempt {
  return attemptFacts(record).claim === null ? record : withoutSession(record);
}

function withoutSession(record: EarlierAttempt): EarlierAttempt {
  const { session: _session, process: _process, strays: _strays, ...facts } = record.facts;
  return { ...record, facts };
}

const TEXT_BYTES = 1024 * 1024;
const ALL_BYTES = 32 * 1024 * 1024;
const PINNED = /^[0-9a-f]{64}$/u;

/** Handoffs and reviews of the attempts before, what they found at their start, and the copies of the files that the run was started with. */
function textsOf(home: string, { run }: AttemptJob, earlier: readonly EarlierAttempt[]): WorkerOrder["texts"] {
  const root = join(home, "runs", run.id);
  const names = earlier.flatMap(({ stage, attempt }) => {
    const { dir, handoff } = attemptFiles(home, run.id, stage, attempt);
    return [handoff, join(dir, REPLACED_REVIEW), join(dir, "before.diff")];
  });
  const pinned = listed(join(root, "pinned")).filter((name) => PINNED.test(name));
  const texts: { path: string; text: string }[] = [];
  let bytes = 0;
  for (const path of [...pinned.map((name) => join(root, "pinned", name)), ...names]) {
    const read = readConfined(home, path, TEXT_BYTES);
    if (!read.ok || read.value === undefined || bytes + read.value.length > ALL_BYTES) continue;
    bytes += read.value.length;
    texts.push({ path: path.slice(root.length + 1), text: read.value });
  }
  return texts;
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
