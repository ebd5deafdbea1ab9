// Globs over paths with `/`: `*` and `?` within a part, `**` over any number of parts. No regular expressions, so no pattern is slow.

/** Whether a pattern stays within the project. */
export function isSafeGlob(glob: string): boolean {
  const parts = glob.split("/");
  return (
    !glob.startsWith("/") &&
    !glob.includes("\\") &&
    !glob.includes("\0") &&
    parts.every((part) => part !== ".." && part !== "" && part !== ".")
  );
}

export function matchesGlob(glob: string, path: string): boolean {
  return matchesParts(glob.split("/"), path.split("/"));
}

/** Whether a path below this folder can match, so that a walk enters it. */
export function mayHold(glob: string, folder: string): boolean {
  const parts = glob.split("/");
  for (const [index, name] of folder.split("/").entries()) {
    const part = parts[index];
    if (part === "**") return true;
    if (part === undefined || index === parts.length - 1 || !matchesPart(part, name)) return false;
  }
  return true;
}

/** `**` is to parts what `*` is to characters: on a mismatch the last one consumes one more. */
function matchesParts(glob: readonly string[], path: readonly string[]): boolean {
  return fits(
    glob.length,
    path.length,
    (at) => glob[at] === "**",
    (at, to) => matchesPart(glob[at] ?? "", path[to] ?? ""),
  );
}

function matchesPart(part: string, name: string): boolean {
  // As in a shell: a name with a leading dot matches only a pattern with one.
  if (name.startsWith(".") && !part.startsWith(".")) return false;
  return fits(
    part.length,
    name.length,
    (at) => part[at] === "*",
    (at, to) => part[at] === "?" || part[at] === name[to],
  );
}

/** Matching with one kind of gap, in at most pattern times text steps. */
function fits(
  pattern: number,
  text: number,
  isGap: (at: number) => boolean,
  same: (at: number, to: number) => boolean,
): boolean {
  let at = 0;
  let to = 0;
  let gap = -1;
  let resume = 0;
  while (to < text) {
    if (at < pattern && isGap(at)) {
      gap = at++;
      resume = to;
    } else if (at < pattern && same(at, to)) {
      at++;
      to++;
    } else if (gap !== -1) {
      at = gap + 1;
      to = ++resume;
    } else return false;
  }
  while (at < pattern && isGap(at)) at++;
  return at === pattern;
}
