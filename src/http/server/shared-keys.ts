// Nodes of one database accept each other's keys: the file of keys follows a table there, and the table the file. A key
// that was revoked on one node is revoked on all, for good. The database has the hashes of tokens, as the file does.

import { join } from "node:path";
import { z } from "zod";
import type { NodeShare } from "../../store/node-share.ts";
import { parseKeys, parseKey, type StoredKey, writeKeys } from "./keys.ts";
import { changePrivate, readPrivate } from "./token-file.ts";

const SYNC_MS = 1000;

export type KeyShare = { close(): void };

/** Resolves after the first read. */
export async function shareKeys(
  home: string,
  share: NodeShare,
  onProblem: (error: unknown) => void,
): Promise<KeyShare> {
  let isClosed = false;
  let isFailing = false;
  const look = async (): Promise<void> => {
    try {
      await syncKeys(home, share);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isClosed) onProblem(error);
      isFailing = true;
    }
  };
  await look();
  const again = (): NodeJS.Timeout =>
    setTimeout(() => void look().finally(() => void (isClosed || (timer = again()))), SYNC_MS).unref();
  let timer = again();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

export async function syncKeys(home: string, share: NodeShare): Promise<void> {
  const file = join(home, "keys.json");
  const here = parseKeys(readPrivate(file));
  const shared = await share.keys();
  const rows = new Map(shared.map((row) => [row.id, row]));
  const known = readKnown(home);
  const fresh = here.filter(({ id }) => !rows.has(id));
  // Before they are shared: one that is revoked from now on is missed in the file.
  if (fresh.some(({ id }) => !known.has(id))) await writeKnown(home, [...known, ...fresh.map(({ id }) => id)]);
  for (const key of fresh) await share.putKey({ id: key.id, body: JSON.stringify(key), isRevoked: false });
  const has = new Set(here.map(({ id }) => id));
  const missing = shared.filter(({ id, isRevoked }) => !isRevoked && !has.has(id));
  for (const key of missing) if (known.has(key.id)) await share.putKey({ ...key, isRevoked: true });
  const added = missing.filter(({ id }) => !known.has(id)).map(({ body }) => parseKey(JSON.parse(body)));
  const gone = new Set(shared.flatMap(({ id, isRevoked }) => (isRevoked && has.has(id) ? [id] : [])));
  if (added.length > 0 || gone.size > 0) await changePrivate(file, (text) => writeKeys(merged(text, added, gone)));
  // After they are in the file: one that is known and not there counts as revoked.
  if (added.length > 0) await writeKnown(home, [...readKnown(home), ...added.map(({ id }) => id)]);
}

function merged(
  text: string | undefined,
  added: readonly StoredKey[],
  gone: ReadonlySet<string>,
): readonly StoredKey[] {
  const kept = parseKeys(text).filter(({ id }) => !gone.has(id));
  const ids = new Set(kept.map(({ id }) => id));
  return [...kept, ...added.filter(({ id }) => !ids.has(id))];
}

const knownFile = (home: string): string => join(home, "keys.shared.json");
const knownSchema = z.array(z.string().max(40)).max(100_000);

function readKnown(home: string): ReadonlySet<string> {
  return new Set(knownSchema.parse(JSON.parse(readPrivate(knownFile(home)) ?? "[]")));
}

async function writeKnown(home: string, ids: readonly string[]): Promise<void> {
  await changePrivate(knownFile(home), () => `${JSON.stringify([...new Set(ids)])}\n`);
}
