// Issues of a tracker, as a list to import.

import { ok, type Result } from "../../core/result.ts";
import type { Tracker } from "../../tracker/tracker.ts";
import { withLink } from "./github-issues.ts";
import type { GivenIssue } from "./import-list.ts";

export async function issuesOfTracker(
  tracker: Tracker,
  query: { readonly label?: string; readonly limit: number },
): Promise<Result<readonly GivenIssue[]>> {
  const found = await tracker.waiting(query);
  if (!found.ok) return found;
  return ok(
    found.value.map(({ id, title, body, labels, url }) => ({
      place: `issue ${id}`,
      values: { id, title: title.slice(0, 200), body: withLink(body, url), labels },
    })),
  );
}
