// The workers that execute attempts; none without a daemon.

import { ROUTES } from "../../contract/routes.ts";
import { readDiskUse } from "../../../app/retention/disk-note.ts";
import { ok } from "../../../core/result.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

export function mountWorkers(mount: MountRoute, { home, workers }: ServerDeps): void {
  mount.json(ROUTES.listWorkers, async () => {
    const found = (await workers?.()) ?? [];
    return ok({
      disk: readDiskUse(home),
      workers: found.map((worker) => ({ ...worker, attempts: worker.attempts.map((each) => ({ ...each })) })),
    });
  });
}
