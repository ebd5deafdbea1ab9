// `runs import`: takes a run from the file of another machine. The author of the file is unknown: its paths, sizes,
// hashes and the chain of its events are checked before anything of it is stored. An imported run starts no agent,
// moves no branch and never lands.

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attemptFiles } from "../../attempt/attempt-files.ts";
import { hashed } from "../../catalog/resolve.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { JsonObject } from "../../core/json.ts";
import { err, messageOf, ok, type Problem, type Result } from "../../core/result.ts";
import type { Actor, RunEvent } from "../../core/run/event.ts";
import { importedRun } from "../../core/run/imported.ts";
import { isEventType, sentenceOf } from "../../core/view/event-sentence.ts";
import { CHAIN_START, eventHash } from "../../store/chain.ts";
import { eventColumns } from "../../store/rows.ts";
import type { Store } from "../../store/store.ts";
import { type ArchiveHeader, readArchive } from "./archive.ts";
import {
  attemptOfFolder,
  attemptsSchema,
  eventLineSchema,
  importedFacts,
  isAttemptFile,
  TAPE,
} from "./attempt-record.ts";
import { unpackCommits } from "./pack-commits.ts";

export type ImportSite = {
  /** The state folder, its links resolved. */
  readonly home: string;
  readonly store: Store;
  readonly actor: Actor;
  readonly now: () => string;
};

export type ImportedFile = {
  readonly run: string;
  readonly number: number;
  readonly events: number;
  readonly files: number;
  readonly tapes: number;
  /** The folder with its commits; null if the file has none. */
  readonly repository: string | null;
};

const TEXT_BYTES = 256 * 1024 * 1024;
/** In the run's folder: which file it came from. */
const MARK = "imported.json";

export async function importRun(site: ImportSite, file: string): Promise<Result<ImportedFile>> {
  const runs = join(site.home, "runs");
  await mkdir(runs, { recursive: true, mode: 0o700 });
  await sweep(runs);
  const folder = await mkdtemp(join(runs, `.import-${process.pid}-`));
  try {
    await mkdir(join(folder, "entries"), { mode: 0o700 });
    const header = await readArchive(file, join(folder, "entries"));
    if (!header.ok) return header;
    return await keep(site, folder, header.value);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Folders of processes that died in the middle. */
async function sweep(runs: string): Promise<void> {
  for (const name of await readdir(runs)) {
    const pid = Number(/^\.import-(\d+)-/u.exec(name)?.[1]);
    if (Number.isSafeInteger(pid) && pid !== process.pid && !existsSync(`/proc/${pid}`))
      await rm(join(runs, name), { recursive: true, force: true });
  }
}

async function keep(site: ImportSite, folder: string, header: ArchiveHeader): Promise<Result<ImportedFile>> {
  const { home, store } = site;
  const placed = await placeEntries(folder, header);
  if (!placed.ok) return placed;
  const read = await readContents(placed.value, header);
  if (!read.ok) return read;
  const { resolved, events: written, notes } = read.value;
  const place = join(home, "runs", header.run);
  const repository = join(place, "repository");
  const { by: exportedBy, at: exportedAt, head } = header;
  const at = { at: site.now(), actor: site.actor };
  const made = importedRun(written, { exportedBy, exportedAt, head, flow: resolved.flow, project: repository, ...at });
  if (!made.ok) return made;
  const { run, events } = made.value;
  if (run.id !== header.run || run.flowHash !== resolved.hash)
    return err(invalid("its events are of another run or of another flow"));
  const free = await freePlace(store, place, header);
  if (!free.ok) return free;
  const pack = placed.value.texts.get("commits.pack");
  if (header.commits !== null && pack !== undefined) {
    const unpacked = await unpackCommits(join(placed.value.record, "repository"), pack, header.commits);
    if (!unpacked.ok) return unpacked;
  } else await mkdir(join(placed.value.record, "repository"));
  await writeFile(join(placed.value.record, MARK), JSON.stringify({ head }), { mode: 0o600 });
  // The files first: a run whose files are missing would look damaged; files without a run do no harm, and this call can be repeated.
  if (!free.value.isThere) await rename(placed.value.record, place);
  await store.saveFlow(resolved);
  const stored = await store.commit({
    runId: run.id,
    expectedVersion: 0,
    signalIds: ["run.imported"],
    events,
    run,
    enqueue: [],
  });
  if (stored.type !== "ok" && stored.type !== "duplicate" && !free.value.isThere)
    return err({ code: "import_exists", message: `Run ${run.id} came into being meanwhile.` });
  for (const { stage, attempt, facts } of notes) {
    const { output } = attemptFiles(home, run.id, stage, attempt);
    const own = { folder: join(place, "workspaces"), output: existsSync(output) ? output : null };
    await store.noteAttempt(run.id, stage, attempt, importedFacts(facts as JsonObject, own));
  }
  const [summary] = await store.findRuns(run.id);
  return ok({
    run: run.id,
    number: summary?.number ?? 0,
    events: written.length,
    files: placed.value.files,
    tapes: placed.value.tapes,
    repository: header.commits === null ? null : repository,
  });
}

type Placed = {
  /** The folder that becomes the run's. */
  readonly record: string;
  /** Entries that are read here, by their path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly files: number;
  readonly tapes: number;
};

const TEXTS: ReadonlySet<string> = new Set(["history.jsonl", "flow.json", "attempts.json", "commits.pack"]);

/** Each entry goes where its kind belongs; one of no known kind is a problem. */
async function placeEntries(folder: string, { entries }: ArchiveHeader): Promise<Result<Placed>> {
  const record = join(folder, "record");
  await mkdir(record, { mode: 0o700 });
  const texts = new Map<string, string>();
  let [files, tapes] = [0, 0];
  for (const [number, { path, sha256 }] of entries.entries()) {
    const from = join(folder, "entries", String(number));
    if (TEXTS.has(path)) {
      texts.set(path, from);
      continue;
    }
    const to = placeOf(path, sha256);
    if (to === undefined)
      return err({
        code: "import_entry",
        message: `The file has something that is no part of a run: ${path.slice(0, 100)}.`,
      });
    await mkdir(dirname(join(record, to)), { recursive: true, mode: 0o700 });
    await rename(from, join(record, to));
    files += 1;
    if (path.endsWith(`/${TAPE}`)) tapes += 1;
  }
  return ok({ record, texts, files, tapes });
}

/** Relative to the run's folder. */
function placeOf(path: string, sha256: string): string | undefined {
  const [kind, folder = "", ...rest] = path.split("/");
  const name = rest.join("/");
  if (kind === "pinned") return name === "" && folder === sha256 ? path : undefined;
  return kind === "attempts" && attemptOfFolder(folder) !== undefined && isAttemptFile(name)
    ? `${folder}/${name}`
    : undefined;
}

type Contents = {
  readonly resolved: ResolvedFlow;
  readonly events: readonly RunEvent[];
  readonly notes: readonly { readonly stage: string; readonly attempt: number; readonly facts: unknown }[];
};

async function readContents({ texts }: Placed, header: ArchiveHeader): Promise<Result<Contents>> {
  const text = async (path: string): Promise<string> => {
    const from = texts.get(path);
    const entry = header.entries.find((each) => each.path === path);
    if (from === undefined || entry === undefined) throw new Error(`${path} is missing`);
    if (entry.bytes > TEXT_BYTES) throw new Error(`${path} is too large`);
    return readFile(from, "utf8");
  };
  try {
    const resolved = flowIn(await text("flow.json"));
    const events = eventsIn(await text("history.jsonl"), header);
    const notes = attemptsSchema.parse(JSON.parse(await text("attempts.json")));
    // Build its views once now: a shape that breaks a view is refused before it is stored.
    for (const event of events)
      if (!isEventType(event.type) || sentenceOf(event) === "") throw new Error("an event has no meaning");
    return ok({ resolved, events, notes });
  } catch (error) {
    return err(error instanceof Unchained ? unchained(error.message) : invalid(messageOf(error).split("\n")[0] ?? ""));
  }
}

/** An author who could write a flow under another one's hash would change later runs of that flow. */
function flowIn(text: string): ResolvedFlow {
  const { flow, agents, prompts, hash } = JSON.parse(text) as ResolvedFlow;
  const own = hashed({ flow, agents, prompts });
  if (own.hash !== hash) throw new Error("its flow does not have its hash");
  return own;
}

class Unchained extends Error {}

function eventsIn(text: string, { run, head }: ArchiveHeader): readonly RunEvent[] {
  let last = CHAIN_START;
  const events = text
    .split("\n")
    .slice(0, -1)
    .map((line, at) => {
      const { hash, event } = eventLineSchema.parse(JSON.parse(line));
      last = eventHash(last, run, at + 1, eventColumns(event as unknown as RunEvent));
      if (last !== hash) throw new Unchained(`event ${at + 1} is not as it was written`);
      return event as unknown as RunEvent;
    });
  if (last !== head) throw new Unchained("its last event is not the one that it names");
  return events;
}

/** Free, or taken by an import of the same file that was cut off. */
async function freePlace(
  store: Store,
  place: string,
  { run, head }: ArchiveHeader,
): Promise<Result<{ readonly isThere: boolean }>> {
  const stored = await store.loadRun(run);
  if (stored !== undefined && stored.run.imported?.head !== head)
    return err({
      code: "import_exists",
      message: `Run ${run} is here already${stored.run.imported === undefined ? "" : ", imported from another file"}.`,
      hint: `passrail runs show ${run}`,
    });
  if (!existsSync(place)) return ok({ isThere: false });
  const mark = await readFile(join(place, MARK), "utf8").catch(() => "");
  if (mark === JSON.stringify({ head })) return ok({ isThere: true });
  return err({
    code: "import_exists",
    message: `${place} has files of a run ${run} already.`,
    hint: "Move that folder away.",
  });
}

const invalid = (why: string): Problem => ({
  code: "import_invalid",
  message: `The file holds no run that can be read: ${why.slice(0, 200)}.`,
});

const unchained = (why: string): Problem => ({
  code: "import_chain",
  message: `The history in the file was changed after it was written: ${why}.`,
});
