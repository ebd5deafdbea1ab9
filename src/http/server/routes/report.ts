// The report of a night. Only the operator is told about files that wait for trust, as in the inbox.

import { findNightReport } from "../../../app/night-report.ts";
import { ok } from "../../../core/result.ts";
import type { NightReportRow } from "../../../core/view/night-report.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";

export function mountReport(mount: MountRoute, deps: ServerDeps): void {
  const { commitOf, looseEnds, now, store, tickets } = deps;
  mount.json(ROUTES.report, async ({ principal, query }) => {
    const report = await findNightReport(
      {
        store,
        looseEnds: async () => {
          const { ends, unseen } = await looseEnds();
          return { ends: ends.filter(({ kind }) => kind !== "trust" || principal.kind === "operator"), unseen };
        },
        tickets: async () => tickets?.known.now(),
        refused: () => tickets?.refused?.() ?? new Map(),
        commitOf,
        now,
      },
      new Date(query.since).toISOString(),
    );
    const { landed, ended, waiting, failed, cannotStart, goingOn, later } = report;
    return ok({
      ...report,
      landed: landed.map(shown),
      ended: ended.map(shown),
      waiting: waiting.map(shown),
      failed: failed.map(shown),
      cannotStart: cannotStart.map(shown),
      goingOn: goingOn.map(shown),
      later: later.map(shown),
    });
  });
}

function shown<T extends NightReportRow>(row: T) {
  return { ...row, commands: [...row.commands] };
}
