// The changes of a run that a person should look at first: everything between the commit of its first attempt and the commit that a
// decision is about, and what its attempts left uncommitted.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { JsonObject } from "../core/json.ts";
import { type MarkedChange, markedChanges, unknownChanges } from "../core/view/marked-changes.ts";
import { changedPaths } from "../git/changed-paths.ts";

type Worked = { readonly facts: JsonObject };

export async function markedWork(
  project: string,
  attempts: readonly Worked[],
  commit: string | null,
): Promise<readonly MarkedChange[]> {
  const facts = attempts.map(attemptFacts);
  const from = facts.find((each) => each.from !== null)?.from ?? null;
  const named = facts.flatMap(({ files }) => files.map((path) => ({ path })));
  if (from === null || commit === null || from === commit) return markedChanges(named);
  const between = await changedPaths(project, from, commit);
  if (!between.ok) return [unknownChanges(from, commit), ...markedChanges(named)];
  return markedChanges([...between.value, ...named]);
}
