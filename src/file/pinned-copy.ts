// The copies of the files that a run was started with. A copy's name is the hash of its text: it is written once, and a changed copy is
// noticed when it is read.

import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { makeFolders, readConfined, TAMPERED, writeConfined } from "./confined.ts";
import { hashOf } from "./input-file.ts";

const COPY_BYTES = 1024 * 1024;

/** Repeating it changes nothing. */
export function writePinned(home: string, runId: string, text: string): Result<string> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const root = realpathSync(home);
  const sha256 = hashOf(text);
  if (readPinned(root, runId, sha256).ok) return ok(sha256);
  const folder = folderOf(root, runId);
  const made = makeFolders(root, folder, 0o700);
  if (!made.ok) return made;
  const written = writeConfined(root, join(folder, sha256), text, 0o400);
  return written.ok ? ok(sha256) : written;
}

export function readPinned(home: string, runId: string, sha256: string): Result<string> {
  if (!/^[0-9a-f]{64}$/u.test(sha256)) throw new Error(`not a hash: ${sha256}`);
  const read = readConfined(home, join(folderOf(home, runId), sha256), COPY_BYTES);
  if (!read.ok) return read;
  if (read.value === undefined) return err(damaged(runId, sha256, "is missing"));
  return hashOf(read.value) === sha256 ? ok(read.value) : err(damaged(runId, sha256, "was changed"));
}

function folderOf(home: string, runId: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/u.test(runId)) throw new Error(`not the id of a run: ${runId}`);
  return join(home, "runs", runId, "pinned");
}

const damaged = (runId: string, sha256: string, what: string) => ({
  code: TAMPERED,
  message: `The copy ${sha256.slice(0, 12)} of a file that run ${runId} was started with ${what}.`,
  hint: "Start a new run from the file.",
});
