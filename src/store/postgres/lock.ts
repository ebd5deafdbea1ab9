// Who performs work on a database: one process at a time, by a lease that its owner renews and that runs out when it dies. The database's
// clock decides. The lease only chooses; what keeps a process out that believes to hold it is the epoch, which the next owner takes.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { DatabaseAddress } from "../../settings/database.ts";
import { migrate } from "./migrations.ts";
import { openPool, type Pool } from "./pool.ts";

export type Lease = { readonly release: () => Promise<void> };

/** Shorter than agents of workers work on without their node, so that they follow to the next one. */
const LEASE_S = 5;
const RENEW_MS = 1000;

/** `heldBy` says who has it, in words for the user; the program never decides by them. */
export type HeldLease = {
  readonly heldBy: string;
  /** Whether it has no holder any more. A caller that wants it must still take it. */
  readonly isFree: () => Promise<boolean>;
  readonly close: () => void;
};

export async function takeLease(address: DatabaseAddress): Promise<Lease | HeldLease> {
  const pool = openPool(address, 1);
  const token = randomUUID();
  try {
    await migrate(pool);
    if (!(await renew(pool, token))) {
      const heldBy = (await leaseHolder(pool)) ?? "another process";
      return { heldBy, isFree: async () => (await leaseHolder(pool)) === undefined, close: () => pool.close() };
    }
  } catch (error) {
    pool.close();
    throw error;
  }
  // A renewal that fails is tried again; if it is too late, the fence stops this process.
  const timer = setInterval(() => void renew(pool, token).catch(() => undefined), RENEW_MS).unref();
  return {
    async release() {
      clearInterval(timer);
      await pool
        .once("UPDATE passrail.performer SET until = '-infinity' WHERE token = $1", token)
        .catch(() => undefined);
      pool.close();
    },
  };
}

/** Undefined: no process performs. */
export async function leaseHolder({ read }: Pool): Promise<string | undefined> {
  const [row] = await read("SELECT holder FROM passrail.performer WHERE until > clock_timestamp()");
  return row === undefined ? undefined : String(row["holder"]);
}

/** Repeating it is fine: who has the lease keeps it. */
async function renew({ read }: Pool, token: string): Promise<boolean> {
  const rows = await read(
    `UPDATE passrail.performer SET
       since = CASE WHEN token = $1 THEN since ELSE clock_timestamp() END,
       token = $1, holder = $2, until = clock_timestamp() + interval '${LEASE_S} seconds'
     WHERE token = $1 OR until < clock_timestamp() RETURNING 1 AS taken`,
    token,
    `process ${process.pid} on ${hostname()}`,
  );
  return rows.length === 1;
}
