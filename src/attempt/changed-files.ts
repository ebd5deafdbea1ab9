// The names of the files in one of our diffs, for the next agent's prompt. Only header lines count; content cannot pose as one, because its
// lines begin with a space, a plus or a minus.

import { nameIn } from "../core/prompt/diff-stat.ts";

const HEADER = "diff --git a/";
const MAX_FILES = 50;

/** Files whose part of the diff has changed. */
export function changedFiles(diff: string, before: string): readonly string[] {
  return changedParts(diff, before)
    .slice(0, MAX_FILES)
    .map(({ path }) => path);
}

export type ChangedPart = {
  readonly path: string /** Not there before, and no part of a commit. */;
  readonly isNew: boolean;
};

/** All of them. What was changed before and is as it was at the beginning again counts, too. */
export function changedParts(diff: string, before: string): readonly ChangedPart[] {
  const [now, earlier] = [depsOf(diff), depsOf(before)];
  const same = new Set(earlier);
  const names = new Set(now.map(nameOf));
  const gone = earlier.map(nameOf).filter((name) => !names.has(name));
  return [
    ...now.filter((part) => !same.has(part)).map((part) => ({ path: nameOf(part), isNew: NEW_FILE.test(part) })),
    ...gone.map((path) => ({ path, isNew: false })),
  ];
}

/** git's own line right below the header; content begins with a space, a plus or a minus. */
const NEW_FILE = /^[^\n]*\nnew file mode /u;

function depsOf(diff: string): readonly string[] {
  // The last part ends with the line break that separates the others.
  return `\n${diff.endsWith("\n") ? diff.slice(0, -1) : diff}`.split(`\n${HEADER}`).slice(1);
}

function nameOf(part: string): string {
  return nameIn(part.split("\n", 1)[0] ?? "");
}
