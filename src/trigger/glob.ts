// Globs over paths with `/`: `*` and `?` within a part, `**` over any number of parts. No regular expressions, so no pattern is slow.

/** A pattern leads into the project and nowhere else. */
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

/** Whether something below this folder can match, so that a walk goes there. */
export function mayHold(glob: string, folder: string): boolean {
  const parts = glob.split("/");
  for (const [index, name] of folder.split("/").entries()) {
    const part = parts[index];
    if (part === "**") return true;
    if (part === undefined || index === parts.length - 1 || !matchesPart(part, name)) return false;
  }
  return true;
}

/** `**` is to parts what `*` is to characters: the last one seen takes one more when the rest does not fit. */
function matchesParts(glob: readonly string[], path: readonly string[]): boolean {
  return fits(
    glob.length,
    path.length,
    (at) => glob[at] === "**",
    (at, to) => matchesPart(glob[at] ?? "", path[to] ?? ""),
  );
}

function matchesPart(part: string, name: string): boolean {
  // As in a shell: what begins with a dot is meant only where the pattern says so.
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
