// `runs export` and `runs import`: one run as a file, from one machine to another.

import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { exportRun } from "../../../app/transfer/export-run.ts";
import { importRun } from "../../../app/transfer/import-run.ts";
import { sizeOfBytes } from "../../../core/retention/retention.ts";
import { createRedaction } from "../../../core/secrets/redaction.ts";
import { secretsOf } from "../../../runner/process/environment.ts";
import { databaseOf } from "../../../settings/database.ts";
import { programVersion } from "../../../settings/version.ts";
import { openStore } from "../../../store/open-store.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";

const now = (): string => new Date().toISOString();

export async function runsExport(io: Io, reference: string, { out }: { readonly out?: string }): Promise<number> {
  requireOperator(io, "runs export");
  const { text: redact } = createRedaction(secretsOf(io.environment));
  return withReader(io, async (store) => {
    const found = await requireRun(store, reference);
    if (store === undefined) throw new CliError("run_not_found", `There is no run ${reference}.`);
    const file = resolve(io.cwd, out ?? `${found.run.id}.passrail-run`);
    if (existsSync(file)) throw new CliError("export_exists", `${file} exists already.`, "--out names another file");
    const site = { home: realpathSync(io.home), store, redact, version: programVersion(), now };
    const exported = await exportRun(site, found, file);
    if (!exported.ok) throw problemError(exported.error);
    const { number, events, files, tapes, commits, bytes, without } = exported.value;
    if (io.json) printJson(io, { ...exported.value, file });
    else if (io.quiet || io.plain) io.out(file);
    else {
      const what = `${events} events, ${files} files of attempts, ${tapes} tapes, ${commits === 0 ? "no commits" : "its commits"}`;
      io.out(`#${number} is in ${file}: ${what}, ${sizeOfBytes(bytes)}.`);
      for (const line of without) io.err(paint(io, "yellow", oneLine(`! ${line}`, 300)));
      io.err(
        paint(
          io,
          "dim",
          "Known secrets are removed; its commits, prompts and answers are as they were. Look before you share it.",
        ),
      );
    }
    return EXIT.ok;
  });
}

export async function runsImport(io: Io, file: string): Promise<number> {
  requireOperator(io, "runs import");
  const database = await databaseOf(io.environment);
  if (!database.ok) throw problemError(database.error);
  mkdirSync(io.home, { recursive: true, mode: 0o700 });
  const store = await openStore({ home: io.home, database: database.value }, { owner: false });
  try {
    const actor = `human:${userInfo().username}` as const;
    const imported = await importRun({ home: realpathSync(io.home), store, actor, now }, resolve(io.cwd, file));
    if (!imported.ok) throw problemError(imported.error);
    const { number, events, files, tapes } = imported.value;
    if (io.json) printJson(io, imported.value);
    else if (io.quiet || io.plain) io.out(imported.value.run);
    else {
      io.out(`#${number} is imported: ${events} events, ${files} files of attempts, ${tapes} tapes.`);
      const next = tapes === 0 ? "" : `, passrail replay ${number} --workspace bubblewrap`;
      io.err(
        paint(
          io,
          "dim",
          `It never starts an agent and never lands. passrail runs show ${number}, passrail runs diff ${number}${next}`,
        ),
      );
    }
    return EXIT.ok;
  } finally {
    store.close();
  }
}
