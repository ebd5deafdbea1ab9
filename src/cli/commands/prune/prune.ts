// `prune`: applies the retention rules now. Work that has not landed stays, and is listed.

import { realpathSync } from "node:fs";
import { createCommitOf } from "../../../app/commit-of.ts";
import { writeDiskUse } from "../../../app/retention/disk-note.ts";
import { measureDisk } from "../../../app/retention/measure.ts";
import { prune, type Pruned } from "../../../app/retention/prune.ts";
import { reasonText, type RetentionRules, sizeOfBytes } from "../../../core/retention/retention.ts";
import { databaseOf } from "../../../settings/database.ts";
import { loadSettings } from "../../../settings/load.ts";
import { readAge, readSize } from "../../../settings/retention.ts";
import { openForReading, openStore } from "../../../store/open-store.ts";
import type { Store } from "../../../store/store.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, paint, printJson, printTable } from "../../terminal/output.ts";

export type PruneFlags = {
  readonly dryRun: boolean;
  readonly olderThan?: string;
  readonly keep?: string;
  readonly size?: string;
};

export async function pruneNow(io: Io, flags: PruneFlags): Promise<number> {
  requireOperator(io, "prune");
  const config = await loadSettings({
    home: io.home,
    environment: io.environment,
    project: io.cwd,
    flags: {},
    unapproved: "show",
  });
  if (!config.ok) throw problemError(config.error);
  const rules = rulesOf(config.value.retention, flags);
  const store = await openFor(io, flags.dryRun);
  if (store === undefined) {
    if (io.json) printJson(io, { ...NOTHING, dryRun: flags.dryRun });
    else if (!io.quiet) io.err("Nothing to remove: there are no runs yet.");
    return EXIT.ok;
  }
  const home = realpathSync(io.home);
  try {
    const now = (): string => new Date().toISOString();
    const pruned = await prune({ home, store, commitOf: createCommitOf(store), rules, now, dryRun: flags.dryRun });
    if (!flags.dryRun) writeDiskUse(home, await measureDisk(home, now()));
    print(io, pruned, flags.dryRun);
  } finally {
    store.close();
  }
  return EXIT.ok;
}

const NOTHING: Pruned = { files: [], kept: [], logs: [], memos: { count: 0, bytes: 0 }, runs: [], bytes: 0 };

/** A look opens nothing for writing. */
async function openFor(io: Io, dryRun: boolean): Promise<Store | undefined> {
  const reader = await openForReading(io);
  if (dryRun || reader === undefined) return reader;
  reader.close();
  const database = await databaseOf(io.environment);
  if (!database.ok) throw problemError(database.error);
  return openStore({ home: io.home, database: database.value }, { owner: false });
}

/** Flags win over the settings. */
function rulesOf(rules: RetentionRules, { olderThan, keep, size }: PruneFlags): RetentionRules {
  const { files } = rules;
  return {
    ...rules,
    files: {
      ageMs:
        olderThan === undefined
          ? files.ageMs
          : meant("--older-than", olderThan, readAge(olderThan), "12h, 30d or none"),
      count:
        keep === undefined
          ? files.count
          : meant("--keep", keep, readCount(keep), "a number from 1 to 1000000, or none"),
      bytes: size === undefined ? files.bytes : meant("--size", size, readSize(size), "500mb, 20gb or none"),
    },
  };
}

function meant<T>(option: string, typed: string, value: T | undefined, expected: string): T {
  if (value === undefined) throw usageError("value_invalid", `${option}: ${JSON.stringify(typed)} is not ${expected}.`);
  return value;
}

function readCount(text: string): number | null | undefined {
  if (text === "none") return null;
  return /^[1-9][0-9]{0,6}$/u.test(text) && Number(text) <= 1_000_000 ? Number(text) : undefined;
}

function print(io: Io, pruned: Pruned, dryRun: boolean): void {
  if (io.json) return printJson(io, { ...pruned, dryRun });
  if (io.quiet) {
    for (const { runId } of pruned.files) io.out(runId);
    return;
  }
  const { files, kept, logs, memos, runs, bytes } = pruned;
  printTable(io, [
    ...files.map((each): Column[] => row(each.number, each.bytes, reasonText(each.because))),
    ...logs.map(({ ticket, bytes: size }): Column[] =>
      row(ticket, size, "its copies of logs are older than retention.logs.age"),
    ),
    ...(memos.count === 0
      ? []
      : [row(`${memos.count} memos`, memos.bytes, "unused for longer than retention.files.age")]),
  ]);
  if (runs.length > 0) io.out(`${dryRun ? "Would remove" : "Removed"} ${runs.length} old runs with their events.`);
  for (const { number } of kept)
    io.err(paint(io, "yellow", `#${number} keeps its files: its work has not landed (passrail runs diff ${number})`));
  if (files.length + logs.length + memos.count + runs.length === 0) io.err("Nothing to remove.");
  else io.out(`${dryRun ? "Would free" : "Freed"} ${sizeOfBytes(bytes)}.`);
}

function row(what: number | string, bytes: number, why: string): Column[] {
  return [
    { name: "what", value: typeof what === "number" ? `#${what}` : what },
    { name: "size", value: sizeOfBytes(bytes) },
    { name: "why", value: why },
  ];
}
