// Carries an attempt's folders to a sandbox and back: the program's input (settings, prompts) and its output (the verdict).
// An agent controls the output, so only a few small files are accepted, and only in these folders.

import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ok, type Result } from "../../../core/result.ts";
import type { Daytona, DaytonaSandbox } from "./api.ts";
import { quote, type Remote } from "./scripts.ts";

const MAX_FILES = 200;
const MAX_BYTES = 10 * 1024 * 1024;

export const folderInside = ({ root }: Remote, index: number): string => `${root}/folder-${index}`;

export async function sendFolders(
  daytona: Daytona,
  sandbox: DaytonaSandbox,
  remote: Remote,
  folders: readonly string[],
): Promise<Result<null>> {
  for (const [index, folder] of folders.entries()) {
    const inside = folderInside(remote, index);
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    const files = entries.filter((found) => found.isFile()).slice(0, MAX_FILES);
    const folders = new Set([inside, ...files.map(({ parentPath }) => `${inside}${parentPath.slice(folder.length)}`)]);
    const made = await daytona.run(sandbox, `mkdir -p ${[...folders].map(quote).join(" ")}`, 30);
    if (!made.ok) return made;
    for (const entry of files) {
      const path = join(entry.parentPath, entry.name);
      const sent = await daytona.upload(sandbox, `${inside}${path.slice(folder.length)}`, await readFile(path));
      if (!sent.ok) return sent;
    }
  }
  return ok(null);
}

export async function fetchFolders(
  daytona: Daytona,
  sandbox: DaytonaSandbox,
  remote: Remote,
  folders: readonly string[],
): Promise<Result<null>> {
  for (const [index, folder] of folders.entries()) {
    const inside = folderInside(remote, index);
    const listed = await daytona.run(sandbox, `find ${quote(inside)} -type f -size -${MAX_BYTES}c`, 60);
    if (!listed.ok) return listed;
    for (const path of listed.value.output.split("\n").slice(0, MAX_FILES)) {
      const name = path.startsWith(`${inside}/`) ? path.slice(inside.length + 1) : "";
      if (!isPlain(name)) continue;
      const target = join(folder, name);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rm(`${target}.new`, { force: true });
      const got = await daytona.download(sandbox, path, `${target}.new`, MAX_BYTES);
      if (!got.ok) return got;
      await rename(`${target}.new`, target);
    }
  }
  return ok(null);
}

/** A relative path of ordinary names. */
function isPlain(name: string): boolean {
  const parts = name.split("/");
  return (
    parts.length <= 8 && parts.every((part) => /^[\w@+=,-][\w@+=,. -]{0,200}$/u.test(part) && !part.startsWith(".."))
  );
}
