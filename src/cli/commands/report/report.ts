// `report`: the state of everything, for the morning after. The inbox has the same rows with more about each.

import { commitOf } from "../../../app/commit-of.ts";
import { findNightReport } from "../../../app/night-report.ts";
import {
  type EndedRow,
  type NightReport,
  nightReportCostText,
  type NightReportRow,
} from "../../../core/view/night-report.ts";
import { optional } from "../../../core/optional.ts";
import { readRefused } from "../../../ticket/pick/refused-board.ts";
import { EXIT } from "../../errors.ts";
import { withReader } from "../../reader.ts";
import { sinceOf } from "../../since.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { looseEndsOf, ticketsOf } from "../answer/loose-ends.ts";

type Section = readonly [name: string, title: string, rows: readonly NightReportRow[]];

export async function report(io: Io, { since }: { readonly since: string }): Promise<number> {
  const from = sinceOf(since);
  const found = await withReader(io, (store) =>
    findNightReport(
      {
        ...optional({ store }),
        looseEnds: () => looseEndsOf(io, store),
        tickets: () => ticketsOf(io),
        refused: () => readRefused({ home: io.home, project: io.cwd }),
        commitOf: async (run) => (store === undefined ? null : commitOf(store, run)),
        now: () => new Date().toISOString(),
      },
      from,
    ),
  );
  if (io.json) printJson(io, found);
  else if (io.quiet) for (const [name, , rows] of sectionsOf(found)) io.out(`${name} ${rows.length}`);
  else if (io.plain) printTable(io, sectionsOf(found).flatMap(plainRows));
  else printSections(io, found);
  return EXIT.ok;
}

function sectionsOf({ landed, ended, waiting, failed, cannotStart, goingOn, later }: NightReport): readonly Section[] {
  return [
    ["landed", "Landed", landed],
    ["waiting", "Waiting for you", waiting],
    ["failed", "Failed", failed],
    ["cannotStart", "Could not start", cannotStart],
    ["goingOn", "Not finished", goingOn],
    ["later", "Not started yet", later],
    ["ended", "Ended without work that left", ended],
  ];
}

function printSections(io: Io, report: NightReport): void {
  io.out(paint(io, "bold", `From ${report.since} to ${report.until}`));
  for (const [, title, rows] of sectionsOf(report)) {
    io.out(paint(io, "bold", `\n${title}: ${rows.length}`));
    for (const row of rows) for (const line of linesOf(io, row)) io.out(line);
  }
  if (report.isCut) io.err("More runs ended than were looked at; choose a later --since.");
  io.out(`\n${paint(io, "bold", "Cost")}: ${nightReportCostText(report.cost)}`);
}

function linesOf(io: Io, row: NightReportRow): readonly string[] {
  const number = row.run === null ? "" : ` (#${row.run.number})`;
  const name = row.subject === null ? row.title : `${row.subject}${number}  ${row.title}`;
  const [command] = isEnded(row) ? [] : row.commands;
  return [
    `  ${oneLine(name, io.columns)}`,
    `    ${oneLine(row.text, Math.max(400, io.columns))}`,
    ...(command === undefined ? [] : [`    ${paint(io, "dim", plainText(command))}`]),
  ];
}

function isEnded(row: NightReportRow | EndedRow): row is EndedRow {
  return "state" in row;
}

function plainRows([name, , rows]: Section) {
  return rows.map(({ subject, title, run, text, commands }) =>
    [name, subject ?? "", run === null ? "" : `#${run.number}`, title, text, commands[0] ?? ""].map((value) => ({
      name: "",
      value,
    })),
  );
}
