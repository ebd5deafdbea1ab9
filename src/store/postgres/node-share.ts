// The share of the nodes in the database. Every statement can be repeated, so a broken connection is only asked again.

import type { NodeShare } from "../node-share.ts";
import type { Pool } from "./pool.ts";

const PART_BYTES = 2 * 1024 * 1024;

export function shareOn(pool: Pool): NodeShare {
  const { read } = pool;
  return {
    async saveCopy({ runId, name, by, about, data }) {
      await pool.transact(async (query) => {
        await query("DELETE FROM passrail.run_copies WHERE run_id = $1 AND name = $2", runId, name);
        for (let part = 0; part === 0 || part * PART_BYTES < data.length; part += 1)
          await query(
            "INSERT INTO passrail.run_copies (run_id, name, part, made_by, about, data) VALUES ($1, $2, $3, $4, $5, $6)",
            runId,
            name,
            part,
            by,
            about,
            Buffer.from(data.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)),
          );
      });
    },
    async copies(runId) {
      const rows = await read(
        "SELECT name, made_by, about FROM passrail.run_copies WHERE run_id = $1 AND part = 0 ORDER BY saved_at, name",
        runId,
      );
      return rows.map((row) => ({
        name: String(row["name"]),
        by: String(row["made_by"]),
        about: String(row["about"]),
      }));
    },
    async loadCopy(runId, name) {
      const rows = await read(
        "SELECT data FROM passrail.run_copies WHERE run_id = $1 AND name = $2 ORDER BY part",
        runId,
        name,
      );
      return rows.length === 0 ? undefined : Buffer.concat(rows.map((row) => row["data"] as Buffer));
    },
    async keys() {
      const rows = await read("SELECT id, body, revoked FROM passrail.shared_keys ORDER BY id");
      return rows.map((row) => ({
        id: String(row["id"]),
        body: String(row["body"]),
        isRevoked: row["revoked"] === true,
      }));
    },
    async putKey({ id, body, isRevoked }) {
      await read(
        `INSERT INTO passrail.shared_keys AS known (id, body, revoked) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET revoked = known.revoked OR excluded.revoked`,
        id,
        body,
        isRevoked,
      );
    },
    async announce(id, body) {
      await read(
        `INSERT INTO passrail.nodes (id, body, seen_at) VALUES ($1, $2, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen_at = excluded.seen_at`,
        id,
        body,
      );
    },
    async nodes() {
      const rows = await read(
        "SELECT id, body FROM passrail.nodes WHERE seen_at > clock_timestamp() - interval '1 minute' ORDER BY id",
      );
      return rows.map((row) => ({ id: String(row["id"]), body: String(row["body"]) }));
    },
  };
}
