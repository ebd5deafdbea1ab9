// Assigns ids to files without one and writes them back. A numbered name gives its own number; any other name (AGI-login.md) gets the next
// free number, and the file is renamed to it.

import { link, lstat, readdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Problem } from "../../core/result.ts";
import type { TicketProblem } from "../../core/ticket/ticket.ts";
import { claimNumbers, numberOfFile } from "./numbers.ts";
import { replaceFile } from "./replace-file.ts";
import { rewriteFrontMatter } from "./rewrite.ts";
import type { FoundFile } from "./check-together.ts";

export async function assignIds(
  root: string,
  prefix: string,
  files: readonly FoundFile[],
): Promise<readonly TicketProblem[]> {
  const problems: TicketProblem[] = [];
  // Files without a number first: after a crash their numbered twin is still the same file.
  for (const found of files.toSorted((one, other) => Number(one.id !== null) - Number(other.id !== null))) {
    const file = join(root, found.request, found.name);
    const failed = found.id === null ? await nameAnew(root, prefix, file) : await writeId(file, found.id);
    if (failed !== undefined) problems.push(problemOf(found, failed));
  }
  return problems;
}

async function nameAnew(root: string, prefix: string, file: string): Promise<Problem | undefined> {
  const { first, release } = await claimNumbers(root, prefix, 1);
  const fresh = join(dirname(file), `${prefix}-${first}.md`);
  try {
    // A link never replaces a file, and of several links to one file only one can remove its old name.
    const begun = await numberedTwin(file, prefix);
    const named = begun ?? fresh;
    if (begun === undefined) await link(file, named);
    try {
      await unlink(file);
    } catch (cause) {
      if (begun === undefined) await unlink(named);
      throw cause;
    }
    return await writeId(named, basename(named, ".md"));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // Another process was faster.
    if (code === "ENOENT") return undefined;
    return { code: "ticket_unwritable", message: `cannot be named ${basename(fresh)} (${code})` };
  } finally {
    await release();
  }
}

/** After a crash between the two steps there are two names of one file. */
async function numberedTwin(file: string, prefix: string): Promise<string | undefined> {
  const { ino, nlink } = await lstat(file);
  if (nlink < 2) return undefined;
  const names = (await readdir(dirname(file))).filter((name) => numberOfFile(name, prefix) !== undefined);
  const paths = names.map((name) => join(dirname(file), name));
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  return paths[stats.findIndex((stat) => stat?.ino === ino)];
}

async function writeId(file: string, id: string): Promise<Problem | undefined> {
  const replaced = await replaceFile(file, ({ text }) => rewriteFrontMatter(text, { id }));
  return replaced.ok ? undefined : replaced.error;
}

function problemOf({ path, id }: FoundFile, { code, message }: Problem): TicketProblem {
  const said = `${basename(path)} has no id, and none could be written: ${message}`;
  return { code, message: said, severity: "warning", path, ...(id === null ? {} : { ticket: id }) };
}
