// Files without an id get one, written back. A numbered name gives its own number; any other name (AGI-login.md) gets the next number that
// nobody has, and the file is named after it.

import { link, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Problem } from "../core/result.ts";
import type { TicketProblem } from "../core/tickets/ticket.ts";
import { claimNumbers } from "./numbers.ts";
import { replaceFile } from "./replace-file.ts";
import { rewriteFrontMatter } from "./rewrite.ts";
import type { FoundFile } from "./scan.ts";

export async function assignIds(
  root: string,
  prefix: string,
  files: readonly FoundFile[],
): Promise<readonly TicketProblem[]> {
  const problems: TicketProblem[] = [];
  for (const found of files) {
    const file = join(root, found.request, found.name);
    const failed = found.id === null ? await nameAnew(root, prefix, file) : await writeId(file, found.id);
    if (failed !== undefined) problems.push(problemOf(found, failed));
  }
  return problems;
}

async function nameAnew(root: string, prefix: string, file: string): Promise<Problem | undefined> {
  const { first, release } = await claimNumbers(root, prefix, 1);
  const id = `${prefix}-${first}`;
  const named = join(dirname(file), `${id}.md`);
  try {
    // First the name: after a crash in between there are two names of one file, and the numbered one gets its id at the next look.
    await link(file, named);
    await rm(file, { force: true });
    return await writeId(named, id);
  } catch (cause) {
    return {
      code: "ticket_unwritable",
      message: `cannot be named ${id}.md (${(cause as NodeJS.ErrnoException).code})`,
    };
  } finally {
    await release();
  }
}

async function writeId(file: string, id: string): Promise<Problem | undefined> {
  const replaced = await replaceFile(file, ({ text }) => rewriteFrontMatter(text, { id }));
  return replaced.ok ? undefined : replaced.error;
}

function problemOf({ path, id }: FoundFile, { code, message }: Problem): TicketProblem {
  const said = `${basename(path)} has no id, and none could be written: ${message}`;
  return { code, message: said, severity: "warning", path, ...(id === null ? {} : { ticket: id }) };
}
