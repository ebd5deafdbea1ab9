// Reads one text file from a repository or the package: a regular file, of limited size, that stays inside its folder.

import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import type { FileProblem } from "../core/check/problem.ts";
import { err, ok, type Result } from "../core/result.ts";
import { optional } from "../core/optional.ts";

const MAX_TEXT_BYTES = 256 * 1024;
const MAX_FILES = 1000;
const MAX_FOLDERS_DEEP = 4;

/** `subject` names the thing in codes: flow_too_large, agent_unreadable … */
export function readText(file: string, folder: string, subject: string): Result<string, FileProblem> {
  const fail = (code: string, message: string, hint?: string): Result<never, FileProblem> =>
    err({ code, message, ...optional({ hint }), severity: "error", file, line: 1, column: 1 });
  let descriptor: number | undefined;
  try {
    const real = realpathSync(file);
    if (!real.startsWith(realpathSync(folder) + sep)) {
      return fail("link_leaves_folder", "this is a link to a file outside of its folder", "copy the file instead");
    }
    // A pipe would block forever, and the checked file must not be swapped for a link: hence the two flags.
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return fail("not_a_file", "this is not a regular file");
    if (stat.size > MAX_TEXT_BYTES) {
      return fail(
        `${subject}_too_large`,
        `the file has ${Math.ceil(stat.size / 1024)} KiB; ${MAX_TEXT_BYTES / 1024} KiB are allowed`,
      );
    }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(descriptor));
    return text.includes("\0") ? fail("not_text", "the file holds binary data") : ok(text);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return fail(`${subject}_not_found`, "there is no such file");
    if (cause instanceof TypeError) return fail("not_text", "the file is not UTF-8 text");
    return fail(`${subject}_unreadable`, `the file cannot be read (${code ?? String(cause)})`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Relative paths of the files below a folder with these endings, sorted; none for a missing folder. */
export function listFiles(folder: string, endings: readonly string[], deep = false): readonly string[] {
  const found: string[] = [];
  const visit = (inner: string, depth: number): void => {
    for (const entry of entriesOf(join(folder, inner))) {
      const path = inner === "" ? entry.name : `${inner}/${entry.name}`;
      if (entry.name.startsWith(".") || found.length >= MAX_FILES) continue;
      // Lists a folder or a pipe with a file's name too: reading it then reports the problem.
      if (endings.some((ending) => entry.name.endsWith(ending))) found.push(path);
      else if (deep && entry.isDirectory() && depth < MAX_FOLDERS_DEEP) visit(path, depth + 1);
    }
  };
  visit("", 1);
  return found.sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
