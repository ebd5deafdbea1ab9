// Where several nodes share a database, what an attempt leaves on one machine is copied there before its outcome is stored: its record and
// its commits. A node that takes a run over brings them here before it works on it. Originals stay where they were made.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { attemptFiles } from "../attempt/attempt-files.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { ok, type Result } from "../core/result.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { jointOf } from "../core/run/joint.ts";
import type { Run } from "../core/run/run.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { makeFolders, readConfinedBytes, writeConfined } from "../file/confined.ts";
import { writePinned } from "../file/pinned-copy.ts";
import type { RunCopy } from "../store/store.ts";
import { bringCommits, keepCommits, type RunCopiesOptions } from "./commit-copies.ts";

export type RunCopies = {
  /** Copies the record and the commits of an attempt that has reported. Once per attempt and process. */
  keep(runId: string, stage: string, attempt: number): Promise<void>;
  /** The texts that a run is started with. */
  keepTexts(runId: string, texts: readonly string[]): Promise<void>;
  /** Brings what other nodes left of the run. Once per run and process; a failure is tried again. */
  bring(resolved: ResolvedFlow, run: Run): Promise<Result<null>>;
};

export function createRunCopies(options: RunCopiesOptions): RunCopies {
  const kept = new Set<string>();
  const brought = new Set<string>();
  const { share, node } = options;
  return {
    async keep(runId, stage, attempt) {
      const key = attemptKey(runId, stage, attempt);
      if (kept.has(key)) return;
      const record = packRecord(options.home, runId, stage, attempt);
      await share.saveCopy({ runId, name: `record/${stage}-${attempt}`, by: node, about: "{}", data: record });
      await keepCommits(options, runId, stage, attempt);
      kept.add(key);
    },
    async keepTexts(runId, texts) {
      if (texts.length === 0) return;
      await share.saveCopy({ runId, name: "texts", by: node, about: "{}", data: packed(texts) });
    },
    async bring(resolved, run) {
      // The commits of several repositories do not travel.
      if (brought.has(run.id) || jointOf(run) !== null) return ok(null);
      const copies = await share.copies(run.id);
      const isForeign = ({ by }: RunCopy): boolean => by !== node;
      for (const { name } of copies.filter(isForeign)) await bringFiles(options, run.id, name);
      const commits = copies.filter(({ name }) => name.startsWith("commits/"));
      const mode = workspaceMode(resolved, run);
      const done = commits.some(isForeign) ? await bringCommits(options, run, mode, commits) : ok(null);
      if (done.ok) brought.add(run.id);
      return done;
    },
  };
}

const FILE_BYTES = 8 * 1024 * 1024;
const RECORD_BYTES = 64 * 1024 * 1024;

const recordSchema = z.array(z.strictObject({ path: z.string(), data: z.string() }));
const textsSchema = z.array(z.string());
const NAME = /^(?:result\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/u;

function packed(value: unknown): Buffer {
  return gzipSync(JSON.stringify(value));
}

function unpacked<T>(schema: z.ZodType<T>, data: Buffer): T {
  const text = gunzipSync(data, { maxOutputLength: 4 * RECORD_BYTES }).toString("utf8");
  return schema.parse(JSON.parse(text));
}

/** Files that are too large stay on their machine: no later attempt reads them. */
function packRecord(home: string, runId: string, stage: string, attempt: number): Buffer {
  const { dir } = attemptFiles(home, runId, stage, attempt);
  let bytes = 0;
  const names = [...listed(dir), ...listed(join(dir, "result")).map((name) => `result/${name}`)];
  const files = names.flatMap((path) => {
    const read = NAME.test(path) ? readConfinedBytes(home, join(dir, path), FILE_BYTES) : undefined;
    if (read?.ok !== true || read.value === undefined || bytes + read.value.length > RECORD_BYTES) return [];
    bytes += read.value.length;
    return [{ path, data: read.value.toString("base64") }];
  });
  return packed(files);
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/** What is here already stays as it is. */
async function bringFiles({ home, share }: RunCopiesOptions, runId: string, name: string): Promise<void> {
  const place = /^record\/(.+)-([0-9]+)$/u.exec(name);
  if (name !== "texts" && place === null) return;
  const data = await share.loadCopy(runId, name);
  if (data === undefined) return;
  if (place === null) {
    for (const text of unpacked(textsSchema, data)) requireDone(writePinned(home, runId, text));
    return;
  }
  const { dir } = attemptFiles(home, runId, place[1] ?? "", Number(place[2]));
  for (const { path, data: content } of unpacked(recordSchema, data)) {
    if (!NAME.test(path)) continue;
    const file = join(dir, path);
    const there = readConfinedBytes(home, file, FILE_BYTES);
    if (there.ok && there.value !== undefined) continue;
    requireDone(makeFolders(home, dirname(file), 0o700));
    requireDone(writeConfined(home, file, Buffer.from(content, "base64")));
  }
}

function requireDone(done: Result<unknown>): void {
  if (!done.ok) throw new Error(done.error.message);
}
