// The report of a night. Only the operator sees files that wait for trust, as in the inbox.

import { findNightReport } from "../../../app/night-report.ts";
import { ok } from "../../../core/result.ts";
import type { NightReport, NightReportRow } from "../../../core/view/night-report.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { ServerDeps } from "../deps.ts";
import type { MountRoute } from "../mount.ts";

export function mountReport(mount: MountRoute, deps: ServerDeps): void {
  mount.json(ROUTES.report, async ({ principal, query }) => {
    const report = await nightReport(deps, new Date(query.since).toISOString(), principal.kind === "operator");
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

/** `isOperator`: also files that wait for trust. */
export function nightReport(deps: ServerDeps, since: string, isOperator: boolean): Promise<NightReport> {
  const { commitOf, looseEnds, now, store, tickets } = deps;
  return findNightReport(
    {
      store,
      looseEnds: async () => {
        const { ends, unseen } = await looseEnds();
        return { ends: ends.filter(({ kind }) => kind !== "trust" || isOperator), unseen };
      },
      tickets: async () => tickets?.known.now(),
      refused: () => tickets?.refused?.() ?? new Map(),
      commitOf,
      now,
    },
    since,
  );
}

function shown<T extends NightReportRow>(row: T) {
  return { ...row, commands: [...row.commands] };
}
