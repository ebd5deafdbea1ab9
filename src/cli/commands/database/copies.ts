// `migrate`, `backup` and `restore`: whole copies of the store.

import { resolve } from "node:path";
import { databaseOf, readAddress } from "../../../settings/database.ts";
import { backUpStore, type CopiedStore, migrateStore, restoreStore } from "../../../store/copy-store.ts";
import type { StorePlace } from "../../../store/open-store.ts";
import { EXIT, problemError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function migrate(io: Io, to: string): Promise<number> {
  requireOperator(io, "migrate");
  const place = await placeOf(io);
  const target = to === "sqlite" ? null : readAddress(to, "--to", io.environment);
  if (target !== null && !target.ok) throw problemError(target.error, EXIT.usage);
  const copied = await migrateStore(place, target === null ? null : target.value);
  const next =
    target === null
      ? "Unset PASSRAIL_DATABASE_URL (and the setting database) to use the copy."
      : "Set PASSRAIL_DATABASE_URL to that address to use the copy.";
  return tell(io, copied, `${next} The old store is as it was.`);
}

export async function backup(io: Io, file: string): Promise<number> {
  requireOperator(io, "backup");
  return tell(
    io,
    await backUpStore(await placeOf(io), resolve(io.cwd, file)),
    `passrail restore ${file}   brings it back`,
  );
}

export async function restore(io: Io, file: string): Promise<number> {
  requireOperator(io, "restore");
  return tell(io, await restoreStore(await placeOf(io), resolve(io.cwd, file)), "passrail up   continues from there");
}

async function placeOf({ home, environment }: Io): Promise<StorePlace> {
  const database = await databaseOf(environment);
  if (!database.ok) throw problemError(database.error);
  return { home, database: database.value };
}

function tell(io: Io, { from, to, events }: CopiedStore, next: string): number {
  if (io.json) printJson(io, { from, to, events });
  else if (io.quiet) io.out(plainText(to));
  else {
    io.out(plainText(`Copied and verified: ${events} events from ${from} to ${to}.`));
    io.err(plainText(next));
  }
  return EXIT.ok;
}
