// Which files of a run's changes a person has viewed, each in a certain version: a file that changes counts as not viewed. Kept per person in the
// state folder, so that it is the same after a reload and on another device. Nothing depends on it: a file that cannot be read marks nothing.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Actor } from "../core/run/event.ts";
import { replacePrivate } from "../file/private-file.ts";

export type ViewedFile = { readonly path: string; readonly version: string };

const MAX_BYTES = 8 * 1024 * 1024;
/** Of one person, over all runs; the oldest go first. */
const AT_MOST = 5000;

const fileSchema = z.array(z.object({ run: z.string(), path: z.string(), version: z.string() }));

export function viewedFiles(home: string, person: Actor, run: string): readonly ViewedFile[] {
  return read(fileOf(home, person))
    .filter((each) => each.run === run)
    .map(({ path, version }) => ({ path, version }));
}

/** The version takes the place of an earlier one of the same file. */
export function markViewed(
  home: string,
  { person, run, path, version, isViewed }: { person: Actor; run: string; isViewed: boolean } & ViewedFile,
): readonly ViewedFile[] {
  const others = read(fileOf(home, person)).filter((each) => each.run !== run || each.path !== path);
  const all = isViewed ? [...others, { run, path, version }].slice(-AT_MOST) : others;
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  replacePrivate(fileOf(home, person), JSON.stringify(all));
  return all.filter((each) => each.run === run).map((each) => ({ path: each.path, version: each.version }));
}

function folderOf(home: string): string {
  return join(home, "viewed");
}

/** A person's name may hold anything; its hash is a name for a file. */
function fileOf(home: string, person: Actor): string {
  return join(folderOf(home), `${createHash("sha256").update(person).digest("hex").slice(0, 32)}.json`);
}

function read(path: string): z.infer<typeof fileSchema> {
  try {
    const text = readFileSync(path, "utf8");
    if (text.length > MAX_BYTES) return [];
    const parsed = fileSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : [];
  } catch {
    return [];
  }
}
