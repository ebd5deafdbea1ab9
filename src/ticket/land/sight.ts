// The evidence of an act at a remote: the commit in its branch, or the open pull request. It is the proof after an act, and the answer to "did
// it happen?" after a crash.

import { ok, type Result } from "../../core/result.ts";
import type { DoneSight, OutwardIntent } from "../../core/run/outward-act.ts";
import type { Forge } from "../../forge/forge.ts";

/** Null if the remote does not show it. */
export async function lookFor(forge: Forge, act: Omit<OutwardIntent, "key">): Promise<Result<DoneSight | null>> {
  const { branch, commit, target, verb } = act;
  switch (verb) {
    case "push":
      return held(await forge.contains(branch, commit), commit);
    case "merge":
      return held(await forge.contains(target, commit), commit);
    case "propose": {
      const found = await forge.proposed({ branch, target, commit });
      if (!found.ok) return found;
      return ok(found.value === null ? null : { commit, number: found.value.number, url: found.value.url });
    }
    case "delete-branch": {
      const head = await forge.head(branch);
      if (!head.ok) return head;
      return ok(head.value === commit ? null : sightOf(commit));
    }
    case "undo":
    case "discard":
      return ok(null);
  }
}

export function sightOf(commit: string): DoneSight {
  return { commit, number: null, url: null };
}

function held(reached: Result<boolean>, commit: string): Result<DoneSight | null> {
  if (!reached.ok) return reached;
  return ok(reached.value ? sightOf(commit) : null);
}
