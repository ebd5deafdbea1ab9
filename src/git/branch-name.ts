// Which branch names Passrail accepts. Stricter than git, which also accepts `feat/$(id)`, `feat/;id` and the ideographic space: harmless to
// git, but not to programs that read the name later.

import { err, ok, type Result } from "../core/result.ts";

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/u;

/** The name itself when it is safe everywhere (argv, shell, URL, file name); a Problem otherwise. */
export function checkBranchName(name: string): Result<string> {
  const fault = faultOf(name);
  if (fault === null) return ok(name);
  return err({
    code: "invalid_branch",
    message: `Branch name ${JSON.stringify(shown(name))} is not usable: ${fault}.`,
    hint: "Use letters, digits and . _ / - only, up to 100 characters, for example feat/login-page.",
  });
}

/** One file system's name for both: equal but for case or Unicode form, also where one is a folder of the other. */
export function collides(one: string, other: string): boolean {
  if (one === other) return false;
  const [a, b] = [foldedName(one), foldedName(other)];
  if (a === b) return true;
  // `feat` and `feat/x` cannot both exist; git itself says so where the case is the same.
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return foldedName(long).startsWith(`${foldedName(short)}/`) && !long.startsWith(`${short}/`);
}

/** Names with the same folded form may be one name to a file system. */
export function foldedName(name: string): string {
  return name.normalize("NFKC").toLowerCase().normalize("NFKC");
}

function faultOf(name: string): string | null {
  if (name === "") return "it is empty";
  if (!ALLOWED.test(name)) return "it holds a character that is not allowed, begins with one, or is too long";
  if (name === "HEAD" || name.startsWith("refs/")) return "git keeps that name for itself";
  // 40 or 64 hex digits would be read as a commit.
  if (/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/u.test(name)) return "it looks like a commit";
  if (name.includes("..")) return "it holds '..'";
  if (name.endsWith(".")) return "it ends with '.'";
  for (const part of name.split("/")) {
    if (part === "") return "a part between slashes is empty";
    if (part.startsWith("-") || part.startsWith(".")) return "a part begins with '-' or '.'";
    if (part.toLowerCase().endsWith(".lock")) return "a part ends with '.lock'";
  }
  return null;
}

function shown(name: string): string {
  return name.length > 120 ? `${name.slice(0, 120)}…` : name;
}
