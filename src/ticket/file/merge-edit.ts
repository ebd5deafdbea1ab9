// Merges a person's edit of a ticket's text with the keys that a run wrote meanwhile, if they changed different things. Anything else is a
// conflict, and nothing is written.

import { err, ok, type Result } from "../../core/result.ts";
import { keysIn } from "./keys-in.ts";
import { rewriteFrontMatter } from "./rewrite.ts";

/** Keys that a run writes. */
const OURS = ["status", "run", "branch", "last_error", "pr_url", "conflict"] as const;

export function mergeEdit(before: string, edited: string, now: string): Result<string> {
  if (now === before) return ok(edited);
  const [old, mine, theirs] = [keysIn(before), keysIn(edited), keysIn(now)];
  const changed = OURS.filter((key) => theirs[key] !== old[key]);
  const isOnlyOurs = rewriteFrontMatter(now, pick(old, changed));
  if (!isOnlyOurs.ok || !sameBut(isOnlyOurs.value, before)) return err(CONFLICT);
  if (changed.some((key) => mine[key] !== old[key] && mine[key] !== theirs[key])) return err(CONFLICT);
  return rewriteFrontMatter(edited, pick(theirs, changed));
}

const CONFLICT = {
  code: "ticket_conflict",
  message: "the file was changed meanwhile, and not only by a run; nothing was written",
};

function pick(keys: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return Object.fromEntries(
    names.map((name) => {
      const value = keys[name];
      return [name, typeof value === "string" || typeof value === "number" ? value : null];
    }),
  );
}

/** The same words; a key that was added and removed again leaves no trace, quotes may differ. */
function sameBut(one: string, other: string): boolean {
  return bodyOf(one) === bodyOf(other) && JSON.stringify(keysIn(one)) === JSON.stringify(keysIn(other));
}

function bodyOf(text: string): string {
  const start = text.indexOf("\n---", 3);
  return start === -1 ? text : text.slice(start);
}
