// Files that an agent's program is given beside its arguments: configuration and schemas, in the private folder of its attempt.
// What is secret goes through here, because arguments can be read by everybody on the machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, messageOf, ok, type Result } from "../../core/result.ts";

export type ScratchFile = {
  /** Within the folder. */
  readonly name: string;
  readonly text: string;
  readonly executable?: true;
};

/** Writes them for the owner alone; says in a sentence what went wrong. */
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
