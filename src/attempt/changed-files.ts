// The names of the files in one of our diffs, for the next agent's prompt. Only header lines count; content cannot pose as one, because its
// lines begin with a space, a plus or a minus.

const HEADER = "diff --git a/";
const MAX_FILES = 50;

/** Files whose part of the diff has changed. */
export function changedFiles(diff: string, before: string): readonly string[] {
  const earlier = new Set(depsOf(before));
  return depsOf(diff)
    .filter((part) => !earlier.has(part))
    .slice(0, MAX_FILES)
    .map(nameOf);
}

function depsOf(diff: string): readonly string[] {
  // The last part ends with the line break that separates the others.
  return `\n${diff.endsWith("\n") ? diff.slice(0, -1) : diff}`.split(`\n${HEADER}`).slice(1);
}

/** `X b/X` where a name may hold " b/" itself: the two halves are equal unless the file was renamed, then the last part counts. */
function nameOf(part: string): string {
  const [line = ""] = part.split("\n", 1);
  const half = (line.length - " b/".length) / 2;
  const same = Number.isInteger(half) && line.slice(0, half) === line.slice(half + " b/".length);
  return same ? line.slice(0, half) : line.slice(line.lastIndexOf(" b/") + " b/".length);
}
