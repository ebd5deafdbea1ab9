// The report of a night as a short text, for a notice: the numbers first, then whatever needs a person.

import { type NightReport, nightReportCostText, type NightReportRow } from "./night-report.ts";

/** A notice is cut at 3000 characters, which is enough for a phone. */
const ROWS = 8;
const ROW_CHARS = 160;

/** `why`: why the night has ended; empty if a person asked. */
export function nightReportText(report: NightReport, why: string): string {
  const { cannotStart, cost, failed, goingOn, landed, later, since, waiting } = report;
  const numbers = [
    `${landed.length} landed`,
    `${waiting.length} waiting for you`,
    `${failed.length} failed`,
    ...(cannotStart.length === 0 ? [] : [`${cannotStart.length} could not start`]),
    ...(goingOn.length === 0 ? [] : [`${goingOn.length} not finished`]),
    ...(later.length === 0 ? [] : [`${later.length} not started`]),
  ].join(", ");
  return [
    `Since ${since}: ${numbers}.`,
    ...(why === "" ? [] : [`It ended because ${why}.`]),
    `Cost: ${nightReportCostText(cost)}.`,
    ...rowsOf("Landed", landed),
    ...rowsOf("Waiting", waiting),
    ...rowsOf("Failed", failed),
    ...rowsOf("Could not start", cannotStart),
    `passrail report --since ${since}`,
  ].join("\n");
}

function rowsOf(title: string, rows: readonly NightReportRow[]): readonly string[] {
  const shown = rows.slice(0, ROWS).map(({ subject, title: name, text }) => {
    const line = `${title}: ${subject ?? name}: ${text.replaceAll(/\s+/gu, " ")}`;
    return line.length <= ROW_CHARS ? line : `${line.slice(0, ROW_CHARS - 1).toWellFormed()}…`;
  });
  return rows.length <= ROWS ? shown : [...shown, `${title}: ${rows.length - ROWS} more`];
}
