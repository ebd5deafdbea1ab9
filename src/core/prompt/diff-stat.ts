// The size of a change per file, counted from one of our own diffs: one more run of git is not needed for it.

const HEADER = "diff --git a/";
const MAX_FILES = 60;

/** `src/a.ts | +3 -1`, a line per file; empty for an empty diff. */
export function diffStat(diff: string): string {
  const files: { name: string; added: number; removed: number }[] = [];
  // Lines before the first `@@` of a file are its header, also those that begin with a plus or a minus.
  let inText = false;
  for (const line of diff.split("\n")) {
    const file = files.at(-1);
    if (line.startsWith(HEADER)) {
      files.push({ name: nameIn(line.slice(HEADER.length)), added: 0, removed: 0 });
      inText = false;
    } else if (line.startsWith("@@")) inText = true;
    else if (!inText || file === undefined) continue;
    else if (line.startsWith("+")) file.added += 1;
    else if (line.startsWith("-")) file.removed += 1;
  }
  const shown = files.slice(0, MAX_FILES).map(({ name, added, removed }) => `${name} | +${added} -${removed}`);
  return [...shown, ...(files.length > MAX_FILES ? [`and ${files.length - MAX_FILES} more files`] : [])].join("\n");
}

/** `X b/X` where a name may hold " b/" itself: the two halves are equal unless the file was renamed, then the last part counts. */
export function nameIn(line: string): string {
  const half = (line.length - " b/".length) / 2;
  const same = Number.isInteger(half) && line.slice(0, half) === line.slice(half + " b/".length);
  return same ? line.slice(0, half) : line.slice(line.lastIndexOf(" b/") + " b/".length);
}
