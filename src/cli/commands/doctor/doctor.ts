// `doctor`: one line per thing that a run needs, with its fix. It changes nothing, except with --fix Passrail's own
// files where nothing can be lost; every other fix stays a command for the person.

import { bad, type Checkup, doubtful, good } from "../../../app/doctor/checkup.ts";
import { lookAtMachine } from "../../../app/doctor/look-at-machine.ts";
import { lookAtPermissions } from "../../../app/doctor/look-at-permissions.ts";
import { lookAtReadiness } from "../../../app/doctor/look-at-readiness.ts";
import { lookAtWork } from "../../../app/doctor/look-at-work.ts";
import type { Readiness } from "../../../core/setup/readiness.ts";
import { messageOf } from "../../../core/result.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { lookAtDatabase } from "../../../store/look-at-database.ts";
import { EXIT } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { type Color, paint, printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";

const MARKS: Readonly<Record<Checkup["state"], { readonly mark: string; readonly color: Color }>> = {
  ok: { mark: "✓", color: "green" },
  warn: { mark: "!", color: "yellow" },
  fail: { mark: "✗", color: "red" },
};
const WIDTH = 300;

export type DoctorOptions = { readonly fix: boolean };

export async function doctor(io: Io, version: string, { fix }: DoctorOptions): Promise<number> {
  const first = await examine(io, version);
  const mended = fix ? mendAll(io, first.checks) : [];
  const { checks, readiness } = mended.length === 0 ? first : await examine(io, version);
  const isWell = checks.every(({ state }) => state !== "fail");
  if (io.json) printJson(io, { ok: isWell, version, checks: checks.map(told), readiness, ...(fix ? { mended } : {}) });
  else if (!io.quiet) {
    for (const check of checks) tell(io, check);
    if (readiness !== null) tellReadiness(io, readiness);
  }
  return isWell ? EXIT.ok : EXIT.error;
}

async function examine(io: Io, version: string) {
  const { home, cwd: project, environment } = io;
  const site = { home, project, environment };
  const [machine, work, readiness] = await Promise.all([lookAtMachine(home), lookAtWork(site), lookAtReadiness(site)]);
  const permissions = lookAtPermissions(environment);
  return { checks: [...machine, permissions, await database(io), daemon(home, version), ...work], readiness };
}

/** The fixes that were made, by the name of their line. */
function mendAll(io: Io, checks: readonly Checkup[]): readonly { readonly name: string; readonly did: string }[] {
  requireOperator(io, "doctor --fix");
  const mended = checks.flatMap(({ name, mend }) => (mend === undefined ? [] : [{ name, did: mend() }]));
  if (io.json || io.quiet) return mended;
  for (const { name, did } of mended) io.err(`${paint(io, "green", "✔")} ${plainText(`${name}: ${did}`)}`);
  if (mended.length === 0) io.err("Nothing here is Passrail's to mend; the commands below are yours.");
  return mended;
}

function told({ name, state, found, fix }: Checkup): Checkup {
  return { name, state, found, fix };
}

function tell(io: Io, { name, state, found, fix }: Checkup): void {
  const { mark, color } = MARKS[state];
  if (io.plain) return io.out([state, name, found, fix].map((cell) => oneLine(cell, WIDTH)).join("\t"));
  io.out(`${paint(io, color, mark)} ${oneLine(`${name}: ${found}`, WIDTH)}`);
  for (const line of fix === "" ? [] : fix.split("\n")) io.out(`    ${plainText(line)}`);
}

/** A store that is a file has no service that could be down. */
async function database({ home, environment }: Io): Promise<Checkup> {
  try {
    const { kind, where, schema, performer } = await lookAtDatabase({ home, environment });
    const state = schema === 0 ? "no schema yet; the first run makes it" : `schema version ${schema}`;
    const who = kind === "sqlite" || performer === null ? "" : `, ${performer} performs`;
    return good("database", `${where}, ${state}${who}`);
  } catch (error) {
    const { hint } = error as { hint?: string };
    return bad("database", messageOf(error), hint ?? "");
  }
}

/** The score, and what would raise it, the most useful first. */
function tellReadiness(io: Io, { score, items }: Readiness): void {
  if (io.plain) {
    io.out(["score", "readiness", String(score), ""].join("\t"));
    for (const { name, points, of, fix } of items)
      io.out(["score", name, `${points} of ${of}`, fix].map((cell) => oneLine(cell, WIDTH)).join("\t"));
    return;
  }
  io.out(`\n${paint(io, "bold", `Readiness of this repository for agents: ${score} of 100`)}`);
  for (const { name, of, found, fix } of items)
    io.out(
      fix === ""
        ? `${paint(io, "green", "✓")} ${name}: ${oneLine(found, WIDTH)}`
        : `${paint(io, "yellow", "·")} ${name} (+${of}): ${plainText(fix)}`,
    );
}

/** An unreadable folder already has a line of its own. */
function daemon(home: string, version: string): Checkup {
  try {
    const found = findDaemon(home);
    if (found === undefined) return good("daemon", "not running; commands work without it");
    const about = `process ${found.pid} at ${found.url}`;
    return found.version === version
      ? good("daemon", about)
      : doubtful(
          "daemon",
          `${about} is version ${found.version}, this is ${version}`,
          "passrail down && passrail up --detach",
        );
  } catch (error) {
    return bad("daemon", messageOf(error), "see the line of the state folder");
  }
}
