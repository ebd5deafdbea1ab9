// Runners that are over a limit of their vendor.

import { optional } from "../../../core/optional.ts";
import { err, ok } from "../../../core/result.ts";
import { holdText } from "../../../core/view/over-limit.ts";
import { ROUTES } from "../../contract/routes.ts";
import { actorOf } from "../actor.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";
import { refusalOf } from "../refusal.ts";

export function mountHolds(mount: MountRoute, { app }: ServerDeps): void {
  mount.json(ROUTES.listHolds, async () => {
    const holds = await app.listHolds();
    return ok({
      holds: holds.map(({ runId, ...hold }) => ({ ...hold, text: holdText(hold), run: runId })),
    });
  });
  mount.json(ROUTES.liftHold, async ({ body: { runner, account }, principal }) => {
    const lifted = await app.liftHold({ runner, ...optional({ account }) }, actorOf(principal));
    return lifted.ok ? ok({ released: lifted.value.released }) : err(refusalOf(lifted.error));
  });
}
