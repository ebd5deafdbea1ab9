// Deletes a story with everything that belongs to it: rows first, all of them or none, then the files of its attempts.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ROUTES } from "../../../contract/routes.ts";
import { err, ok } from "../../../../core/result.ts";
import type { MountRoute } from "../../mount.ts";
import type { ServerDeps } from "../../deps.ts";
import type { Turns } from "../../../../app/turns.ts";

export function mountDeletion(mount: MountRoute, { store, home, onProblem }: ServerDeps, turns: Turns): void {
  mount.json(ROUTES.deleteStory, ({ params: { story }, requestId }) =>
    turns(story, async () => {
      const { type, runIds } = await store.deleteSubject(story);
      if (type !== "deleted") {
        const why = type === "in_use" ? "its workspace is still being released" : "it has not ended";
        return err({
          code: "story_active",
          detail: `${story} cannot be deleted: ${why} (${runIds.join(", ")}).`,
          hint: "Cancel its runs first.",
        });
      }
      if (runIds.length === 0)
        return err({ code: "story_not_found", detail: `There is no story ${JSON.stringify(story)}.` });
      for (const runId of runIds) {
        // Nothing refers to leftover files any more, so a failure here must not report that the story still exists.
        await rm(join(home, "runs", runId), { recursive: true, force: true }).catch((error: unknown) =>
          onProblem(`files of ${runId} are left: ${String(error)}`, requestId),
        );
      }
      return ok({ success: true, runs: [...runIds] });
    }),
  );
}
