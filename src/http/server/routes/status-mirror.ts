// The status mirror.

import { lookAtMirror } from "../../../app/status-mirror.ts";
import { ok } from "../../../core/result.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";

export function mountStatusMirror(mount: MountRoute, { config, home, store }: ServerDeps): void {
  mount.json(ROUTES.showStatusMirror, async () => {
    const mirror = await lookAtMirror(home, config, store);
    return ok({ mirror: mirror === null ? null : { ...mirror, refused: mirror.refused.map((row) => ({ ...row })) } });
  });
}
