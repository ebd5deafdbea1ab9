// `runs export`: one file with everything that another machine needs to look at a run and to replay it: its events, its flow, the records and
// tapes of its attempts, and its commits. Known secrets are removed again from every text, as they are known now.

import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attemptFiles } from "../../attempt/attempt-files.ts";
import { attemptFacts } from "../../core/attempt-facts.ts";
import { removedText } from "../../core/retention/retention.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { branchOf } from "../../core/run/branch.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { jointOf } from "../../core/run/joint.ts";
import { projectOf, workspaceMode } from "../../core/run/run-settings.ts";
import type { Run } from "../../core/run/run.ts";
import { redactJson } from "../../core/secrets/redact-json.ts";
import { lookConfined, readConfined } from "../../file/confined.ts";
import { openTape, readTape } from "../../gateway/tape.ts";
import { findProject, findRepository, resolveCommits } from "../../git/repository.ts";
import { CHAIN_START, eventHash } from "../../store/chain.ts";
import { flowOf } from "../../store/flow-of.ts";
import { eventColumns } from "../../store/rows.ts";
import type { AttemptRecord, Store } from "../../store/store.ts";
import { commitOf } from "../commit-of.ts";
import { eventsOf, type FoundRun } from "../find-run.ts";
import { readNote } from "../retention/removed-note.ts";
import { type ArchiveHeader, type Packed, writeArchive } from "./archive.ts";
import { attemptOfFolder, carriedFacts, isAttemptFile, TAPE } from "./attempt-record.ts";
import { packCommits } from "./pack-commits.ts";

export type ExportSite = {
  /** The state folder, its links resolved. */
  readonly home: string;
  readonly store: Store;
  readonly redact: (text: string) => string;
  /** The version of Passrail. */
  readonly version: string;
  readonly now: () => string;
};

export type Exported = {
  readonly run: string;
  readonly number: number;
  readonly events: number;
  /** Files of attempts, tapes included. */
  readonly files: number;
  readonly tapes: number;
  readonly commits: number;
  readonly bytes: number;
  /** The parts that could not be exported, in sentences. */
  readonly without: readonly string[];
};

const FILE_BYTES = 256 * 1024 * 1024;

/** `file` must not exist. */
export async function exportRun(site: ExportSite, found: FoundRun, file: string): Promise<Result<Exported>> {
  const { run } = found;
  if (jointOf(run) !== null)
    return err({
      code: "export_joint",
      message: `#${found.summary.number} works on several repositories; such a run cannot be exported.`,
    });
  const folder = await mkdtemp(join(tmpdir(), "passrail-export-"));
  try {
    const packing = createPacking(folder);
    const history = await packHistory(site, run, packing);
    if (!history.ok) return history;
    const attempts = await site.store.attempts(run.id);
    const files = await packFiles(site, run.id, packing);
    const notes = attempts.map(({ stage, attempt, facts }) => ({ stage, attempt, facts: carriedFacts(facts) }));
    await packing.add("attempts.json", JSON.stringify(redactJson(notes, site.redact)));
    const commits = await commitsOf(site, run, attempts, folder);
    if (commits.value !== null) packing.take("commits.pack", commits.value.file);
    const header = {
      by: site.version,
      at: site.now(),
      run: run.id,
      head: history.value.head,
      commits: commits.value === null ? null : headOf(commits.value),
    };
    const written = await writeArchive(file, header, packing.packed);
    if (!written.ok) return written;
    return ok({
      run: run.id,
      number: found.summary.number,
      events: history.value.events,
      files: files.files,
      tapes: files.tapes,
      commits: commits.value?.tips.length ?? 0,
      bytes: written.value.bytes,
      without: [...files.without, ...commits.without],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Packing = {
  readonly packed: readonly Packed[];
  add(path: string, text: string | Uint8Array): Promise<void>;
  take(path: string, file: string): void;
  /** A path for a file that `take` gets. */
  place(): string;
};

function createPacking(folder: string): Packing {
  const packed: Packed[] = [];
  let number = 0;
  const place = (): string => join(folder, `entry-${number++}`);
  return {
    packed,
    place,
    take: (path, file) => void packed.push({ path, file }),
    async add(path, text) {
      const file = place();
      await writeFile(file, text, { mode: 0o600 });
      packed.push({ path, file });
    },
  };
}

/** The chain is made anew, with a hash for each event; a store may have one for several. */
async function packHistory(
  { store, redact }: ExportSite,
  run: Run,
  packing: Packing,
): Promise<Result<{ readonly head: string; readonly events: number }>> {
  const resolved = await flowOf(store, run);
  const flow = JSON.stringify(resolved);
  if (redact(flow) !== flow)
    return err({
      code: "export_secret",
      message: `The flow ${run.flow} holds a secret, so the run cannot be exported.`,
    });
  const lines: string[] = [];
  let head = CHAIN_START;
  for await (const stored of eventsOf(store, run.id)) {
    const event: RunEvent = redactJson(stored.event, redact);
    head = eventHash(head, run.id, stored.version, eventColumns(event));
    lines.push(`${JSON.stringify({ hash: head, event })}\n`);
  }
  await packing.add("history.jsonl", lines.join(""));
  await packing.add("flow.json", flow);
  return ok({ head, events: lines.length });
}

type PackedFiles = { readonly files: number; readonly tapes: number; readonly without: readonly string[] };

async function packFiles(site: ExportSite, runId: string, packing: Packing): Promise<PackedFiles> {
  const { home } = site;
  const removed = readNote(home, runId);
  const without: string[] = removed === undefined ? [] : [removedText(removed)];
  let [files, tapes] = [0, 0];
  for (const name of await plainNames(home, join(home, "runs", runId))) {
    const folder = join(home, "runs", runId, name);
    if (name === "pinned") files += await packPinned(site, folder, packing, without);
    const at = attemptOfFolder(name);
    if (at === undefined) continue;
    const { dir } = attemptFiles(home, runId, at.stage, at.attempt);
    const inside = [
      ...(await plainNames(home, dir)),
      ...(await plainNames(home, join(dir, "result"))).map((each) => `result/${each}`),
    ];
    for (const each of inside.filter(isAttemptFile)) {
      if (each === TAPE) tapes += await packTape(site, join(dir, each), `attempts/${name}/${each}`, packing);
      const text = each === TAPE ? ok(undefined) : readConfined(home, join(dir, each), FILE_BYTES);
      if (!text.ok) without.push(`${name}/${each} did not go along: ${text.error.message}`);
      else if (text.value !== undefined) await packing.add(`attempts/${name}/${each}`, site.redact(text.value));
      files += 1;
    }
  }
  return { files, tapes, without };
}

async function packPinned(site: ExportSite, folder: string, packing: Packing, without: string[]): Promise<number> {
  let count = 0;
  for (const name of await plainNames(site.home, folder)) {
    const text = /^[0-9a-f]{64}$/u.test(name) ? readConfined(site.home, join(folder, name), FILE_BYTES) : ok(undefined);
    if (!text.ok || text.value === undefined) continue;
    if (createHash("sha256").update(site.redact(text.value)).digest("hex") !== name)
      without.push(`a file that the run was started with did not go along: it holds a secret (${name.slice(0, 12)})`);
    else await packing.add(`pinned/${name}`, text.value);
    count += 1;
  }
  return count;
}

/** Read and written anew, because a secret may have become known since. */
async function packTape({ home, redact }: ExportSite, from: string, path: string, packing: Packing): Promise<number> {
  const seen = lookConfined(home, from);
  if (!seen.ok || seen.value?.isFile() !== true) return 0;
  const { places, exchanges } = await readTape(from);
  if (places === null || exchanges.length === 0) return 0;
  const file = packing.place();
  const fail = (error: Error): void => {
    throw error;
  };
  const tape = openTape(file, { redact, onError: fail, places: redactJson(places, redact) });
  for (const { number: _number, requestHash: _request, responseHash: _response, ...exchange } of exchanges)
    tape.add(exchange);
  await tape.close();
  packing.take(path, file);
  return 1;
}

/** Names of what is really there; a link in the place of a folder leads nowhere. */
async function plainNames(home: string, folder: string): Promise<readonly string[]> {
  const found = lookConfined(home, folder);
  if (!found.ok || found.value?.isDirectory() !== true) return [];
  return (await readdir(folder)).toSorted();
}

type RunCommits = NonNullable<ArchiveHeader["commits"]> & { readonly file: string };

async function commitsOf(
  { store }: ExportSite,
  run: Run,
  attempts: readonly AttemptRecord[],
  folder: string,
): Promise<{ readonly value: RunCommits | null; readonly without: readonly string[] }> {
  const none = (why: string) => ({ value: null, without: [`its commits did not go along: ${why}`] });
  const named = attempts.map(attemptFacts).flatMap(({ from, to }) => [from, to].filter((commit) => commit !== null));
  if (named.length === 0) return { value: null, without: [] };
  const project = await findProject(projectOf(run));
  if (!project.ok) return none(project.error.message);
  const place = await findRepository(project.value);
  if (!place.ok) return none(place.error.message);
  const known = await resolveCommits(project.value, named, { place: place.value });
  if (!known.ok) return none(known.error.message);
  const commits = known.value.filter((commit) => commit !== null);
  if (commits.length < named.length) return none(`${project.value} no longer has all of them`);
  const resolved = await flowOf(store, run);
  const branch = branchOf(resolved.flow, run);
  // Later changes by others in the project's own folder are not part of the run.
  const tip = workspaceMode(resolved, run) === "in-place" ? (commits.at(-1) ?? null) : await commitOf(store, run);
  const packed = await packCommits({ repository: place.value.commonDir, branch, tip, commits, folder });
  return packed.ok ? { value: packed.value, without: [] } : none(packed.error.message);
}

function headOf({ file: _file, ...header }: RunCommits): NonNullable<ArchiveHeader["commits"]> {
  return header;
}
