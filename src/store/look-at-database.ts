// Where the store is, how far its schema is, and who performs on it. Changes nothing.

import { existsSync } from "node:fs";
import { type DatabaseAddress, databaseOf } from "../settings/database.ts";
import { type NodeNote, nodeNoteSchema } from "../core/view/node-note.ts";
import { type Site, storeFile } from "../settings/site.ts";
import { lockOwner } from "./sqlite/lock.ts";
import { schemaOfFile } from "./sqlite/schema-of-file.ts";
import { StoreError } from "./store.ts";

export type DatabaseLook = {
  readonly kind: "sqlite" | "postgres";
  /** Without a password. */
  readonly where: string;
  /** 0: there is none yet. */
  readonly schema: number;
  readonly performer: string | null;
  /** The daemons that were heard of within a minute. */
  readonly nodes: readonly NodeNote[];
};

/** Throws a StoreError if the address is wrong or the database cannot be reached. */
export async function lookAtDatabase({ home, environment }: Pick<Site, "home" | "environment">): Promise<DatabaseLook> {
  const database = await databaseOf(environment);
  if (!database.ok) throw new StoreError("database_invalid", database.error.message, database.error.hint ?? "");
  if (database.value !== null) return lookAtPostgres(database.value);
  const file = storeFile(home);
  const owner = lockOwner(home);
  return {
    kind: "sqlite",
    where: file,
    schema: existsSync(file) ? schemaOfFile(file) : 0,
    performer: owner === undefined ? null : `process ${owner.pid}`,
    nodes: [],
  };
}

async function lookAtPostgres(address: DatabaseAddress): Promise<DatabaseLook> {
  const { openPool } = await import("./postgres/pool.ts");
  const { schemaVersion } = await import("./postgres/migrations.ts");
  const { leaseHolder } = await import("./postgres/lock.ts");
  const { shareOn } = await import("./postgres/node-share.ts");
  const pool = openPool(address, 1);
  try {
    const schema = await schemaVersion(pool.read, pool.shown);
    const performer = schema === 0 ? undefined : await leaseHolder(pool);
    const found = schema < 3 ? [] : await shareOn(pool).nodes();
    const nodes = found.flatMap(({ body }) => nodeNoteSchema.safeParse(JSON.parse(body)).data ?? []);
    return { kind: "postgres", where: pool.shown, schema, performer: performer ?? null, nodes };
  } finally {
    pool.close();
  }
}
