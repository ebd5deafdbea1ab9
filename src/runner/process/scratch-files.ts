// Configuration and schemas for an agent's program, as files in the private folder of its attempt. Secrets go through here, because every
// user of the machine can read arguments.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, messageOf, ok, type Result } from "../../core/result.ts";

export type ScratchFile = {
  /** Within the folder. */
  readonly name: string;
  readonly text: string;
  readonly executable?: true;
};

/** Writes them readable by the owner only; an error is one sentence. */
export function writeScratch(folder: string, files: readonly ScratchFile[]): Result<void, string> {
  try {
    for (const { name, text, executable } of files) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, text, { mode: executable === true ? 0o700 : 0o600 });
    }
    return ok(undefined);
  } catch (error) {
    return err(`The agent's files could not be written: ${messageOf(error)}.`);
  }
}
