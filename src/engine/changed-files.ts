// The names of the files in a diff of ours, for the next agent's prompt. Only header lines count: a line of a file's own text always begins
// with a space, a plus or a minus, so no content can pose as a header.

const HEADER = "diff --git a/";
const MAX_FILES = 50;

export function changedFiles(diff: string): readonly string[] {
  const names: string[] = [];
  for (const line of diff.split("\n")) {
    if (!line.startsWith(HEADER)) continue;
    // `a/X b/X` where a name may hold " b/" itself: the two halves are equal unless the file was renamed, then the last part counts.
    const rest = line.slice(HEADER.length);
    const half = (rest.length - " b/".length) / 2;
    const same = Number.isInteger(half) && rest.slice(0, half) === rest.slice(half + " b/".length);
    names.push(same ? rest.slice(0, half) : rest.slice(rest.lastIndexOf(" b/") + " b/".length));
    if (names.length === MAX_FILES) break;
  }
  return names;
}
