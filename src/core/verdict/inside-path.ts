// A path that an agent names, as text only: whether it can lie inside the workspace. Links and existence are for whoever opens it.

const CONTROL = /\p{Cc}/u;

/** The path relative to the workspace root, or undefined when it could lead outside. A leading "/" means that root (source 000 writes it so). */
export function insidePath(path: string): string | undefined {
  if (path.length > 1024 || CONTROL.test(path) || path.startsWith("~") || path.startsWith("//")) return undefined;
  // A backslash separates folders on Windows only; a name with one is refused everywhere instead of meaning two things.
  if (path.includes("\\") || /^[A-Za-z]:/.test(path)) return undefined;
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.length > 0 ? kept.join("/") : undefined;
}
