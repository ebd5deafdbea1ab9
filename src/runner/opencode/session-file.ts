// The usage of an opencode session from its database. Measured with 1.18.33: the row of a session holds the totals of its finished steps;
// sessions of sub-agents name their parent. The database is opened for reading only, for one query, and never waits for its writer. One from
// a sandbox is not opened at all: the agent inside may have written it, and its output tells every step.

import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { lookConfined } from "../../file/confined.ts";
import { count, type Fields, fields } from "../loose-json.ts";
import { type SessionPlaces, sessionFolders } from "../session-journal.ts";

export function openOpencodeSession(id: string, places: SessionPlaces): () => Usage | null {
  const { env, confined } = places;
  if (confined !== undefined) return () => null;
  const data = env["XDG_DATA_HOME"] ?? join(env["HOME"] ?? homedir(), ".local", "share");
  return () => {
    const [folder] = sessionFolders(places, join(data, "opencode"));
    if (folder === undefined) return null;
    const { root } = folder;
    const path = join(root, "opencode.db");
    // SQLite follows links by itself: the file and what it writes beside it must be plain.
    const files = [path, `${path}-wal`, `${path}-shm`].map((each) => lookConfined(root, each));
    if (files.some((file) => !file.ok) || (files[0]?.ok === true && files[0].value === undefined)) return null;
    return totalIn(path, id);
  };
}

const TOTALS = `
  WITH RECURSIVE family(id, depth) AS (
    SELECT id, 0 FROM session WHERE id = ?
    UNION SELECT session.id, depth + 1 FROM session JOIN family ON session.parent_id = family.id WHERE depth < 5
    LIMIT 1000
  )
  SELECT cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write
  FROM session WHERE id IN (SELECT id FROM family)`;

function totalIn(path: string, id: string): Usage | null {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    // A view could count for ever.
    if (database.prepare("SELECT type FROM sqlite_schema WHERE name = 'session'").get()?.["type"] !== "table")
      return null;
    const rows = database.prepare(TOTALS).all(id);
    const usages = rows.map((row) => usageOf(fields({ ...row })));
    return usages.reduce<Usage | null>((sum, each) => (sum === null ? each : addUsage(sum, each)), null);
  } catch {
    // Another version's tables, or a writer at this moment: the next look may tell.
    return null;
  } finally {
    database?.close();
  }
}

/** Its input excludes tokens read from the cache or written to it. Nothing has been told while no step has ended. */
function usageOf(row: Fields): Usage {
  const [input, output, cached] = [
    count(row["tokens_input"]),
    count(row["tokens_output"]),
    count(row["tokens_cache_read"]),
  ];
  return {
    usd: count(row["cost"]),
    inputTokens: input === null ? null : input + (cached ?? 0) + (count(row["tokens_cache_write"]) ?? 0),
    outputTokens: output === null ? null : output + (count(row["tokens_reasoning"]) ?? 0),
    cachedTokens: cached,
  };
}
