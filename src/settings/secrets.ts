// Reads the secrets that settings name: from files that only their owner can read, or from the environment. Messages name the place, never
// the content.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import type { Environment } from "./site.ts";

const MAX_SECRETS = 5;
const MAX_FILE_BYTES = 256 * 1024;

/** One secret per line, the current one first, so that secrets can be rotated without a gap. Read anew for every use. */
export function readSecrets(
  file: string | undefined,
  variable: string | undefined,
  environment: Environment,
): Result<readonly string[]> {
  if (file === undefined) {
    const values = linesOf(environment[variable ?? ""] ?? "");
    return values.length === 0 ? fault("secret_missing", `the variable ${variable ?? ""} is not set.`) : ok(values);
  }
  const text = readText(file, environment, { isPrivate: true });
  if (!text.ok) return text;
  const lines = linesOf(text.value);
  return lines.length === 0 ? fault("secret_missing", `${file} is empty.`) : ok(lines);
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").slice(0, MAX_SECRETS);
}

/** `isPrivate`: refuses a file that others could read or write. */
export function readText(
  file: string,
  environment: Environment,
  { isPrivate }: { readonly isPrivate: boolean } = { isPrivate: false },
): Result<string> {
  const path = file.startsWith("~/") ? join(environment["HOME"] ?? homedir(), file.slice(2)) : file;
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would block.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return fault("secret_missing", `${path} is not a small file.`);
    const isForeign = process.getuid !== undefined && found.uid !== process.getuid() && found.uid !== 0;
    if (isPrivate && (isForeign || (found.mode & 0o077) !== 0))
      return fault("secret_exposed", `others can read ${path}; chmod 600 ${path}`);
    return ok(readFileSync(fd, "utf8"));
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return fault("secret_missing", `${path} cannot be read (${reason}).`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function fault(code: string, message: string): Result<never> {
  return err({ code, message });
}
