// Whether a path from an agent can be inside the workspace, judged as text only. The code that opens it checks links and existence.

const CONTROL = /\p{Cc}/u;

/** The path relative to the workspace root, or undefined when it could lead outside. A leading "/" means that root (as in source 000). */
export function insidePath(path: string): string | undefined {
  if (path.length > 1024 || CONTROL.test(path) || path.startsWith("~") || path.startsWith("//")) return undefined;
  // A backslash separates folders on Windows only; a name with one is refused everywhere instead of having two meanings.
  if (path.includes("\\") || /^[A-Za-z]:/.test(path)) return undefined;
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.length > 0 ? kept.join("/") : undefined;
}
