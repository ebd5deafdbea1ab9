// The store in a Postgres, for several processes on several machines. Any of them may commit; lock.ts decides which of them performs work,
// and the database refuses the writes of one that was replaced.

import { randomUUID } from "node:crypto";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { CachedCheck } from "../../core/flow/check-result.ts";
import type { Json } from "../../core/json.ts";
import type { DatabaseAddress } from "../../settings/database.ts";
import { HOLD_COLUMNS, type HoldRow, toHold, toHoldRow, toInboxRecord, toWork } from "../rows.ts";
import { type ClaimResult, type Deletion, type Store, StoreError } from "../store.ts";
import { createCommit } from "./commit.ts";
import { createHeads } from "./heads.ts";
import { readIdentity, takeOver } from "./identity.ts";
import { migrate, schemaVersion, SUMS_SINCE } from "./migrations.ts";
import { openPool, type Pool } from "./pool.ts";
import { shareOn } from "./node-share.ts";
import { createQueries, type DatabaseQueries } from "./queries.ts";
import { readEvents } from "./read-events.ts";
import { readRuns } from "./read-runs.ts";
import { readSpending } from "./read-spending.ts";
import { plainText } from "./text.ts";
import { verifyDatabase } from "./verify.ts";
import { fencedBy, openWriter, type Writer } from "./writer.ts";

export type PostgresStoreOptions = {
  readonly address: DatabaseAddress;
  /** For readers: creates and upgrades nothing. */
  readonly readOnly?: boolean;
  /** For the process that performs: from now on the store refuses what an earlier owner writes. */
  readonly owner?: boolean;
};

const FLOWS_AT_MOST = 200;
const CHECKS_KEPT_MS = 30 * 86_400_000;
const KEPT_AT_MOST = 10_000;
/** Counting the rows takes a while, so it is not done for every claim. */
const CLAIMS_PER_COUNT = 100;

/** Throws a StoreError when the database cannot be reached or is not fit for use. */
export async function openPostgresStore({
  address,
  readOnly = false,
  owner = false,
}: PostgresStoreOptions): Promise<Store> {
  const pool = openPool(address);
  try {
    if (readOnly) await requireSchema(pool);
    else await migrate(pool);
    const hasSums = (await schemaVersion(pool.read, pool.shown)) >= SUMS_SINCE;
    const opened = owner ? await takeOver(pool) : await readIdentity(pool);
    return storeOn(pool, { ...opened, owner, readOnly, hasSums });
  } catch (error) {
    pool.close();
    throw error;
  }
}

async function requireSchema({ read, shown }: Pool): Promise<void> {
  if ((await schemaVersion(read, shown)) > 0) return;
  throw new StoreError(
    "store_missing",
    `There is no store in ${shown}.`,
    "Start a run first: it creates the schema passrail.",
  );
}

type Opened = {
  readonly incarnation: string;
  readonly epoch: number;
  readonly seq: number;
  readonly owner: boolean;
  readonly readOnly: boolean;
  readonly hasSums: boolean;
};

function storeOn(pool: Pool, opened: Opened): Store {
  const { incarnation, owner, readOnly } = opened;
  const heads = createHeads();
  const seen = { seq: opened.seq, isElsewhere: false, isClosed: false };
  const inner = openWriter(pool, { incarnation, epoch: owner ? opened.epoch : null }, (before, after) => {
    if (before !== seen.seq) seen.isElsewhere = true;
    seen.seq = after;
  });
  const requireOpen = (): void => {
    if (seen.isClosed) throw new StoreError("store_closed", `${pool.shown} is closed.`, "Open the store again.");
  };
  const writer: Writer = {
    ...inner,
    async write(job) {
      requireOpen();
      if (readOnly)
        throw new StoreError(
          "store_read_only",
          `${pool.shown} is open for reading only.`,
          "Open the store for writing.",
        );
      return inner.write(job);
    },
  };
  const queries = createQueries({
    async read(...query) {
      requireOpen();
      return pool.read(...query);
    },
  });
  const runs = readRuns(queries, heads);
  return {
    ...runs,
    ...readEvents(queries),
    ...readSpending(queries, opened.hasSums),
    ...otherReads(queries),
    ...otherWrites(writer, runs.runsOf, heads.forget),
    commit: createCommit(writer, heads),
    verify: async () => {
      requireOpen();
      return verifyDatabase(pool);
    },
    incarnation: () => incarnation,
    nodes: shareOn(pool),
    async changedElsewhere() {
      requireOpen();
      // A write of this process may be answered before this read is: only what was known before it counts.
      const before = seen.seq;
      const now = await readIdentity(pool);
      if (now.incarnation !== incarnation || now.seq < before) throw fencedBy("content", pool.shown);
      if (owner && now.epoch !== opened.epoch) throw fencedBy("owner", pool.shown);
      const isChanged = seen.isElsewhere || now.seq > seen.seq;
      seen.isElsewhere = false;
      seen.seq = Math.max(seen.seq, now.seq);
      return isChanged;
    },
    close() {
      if (seen.isClosed) return;
      seen.isClosed = true;
      void inner.drained().finally(() => pool.close());
    },
  };
}

function otherReads({
  all,
  first,
}: DatabaseQueries): Pick<Store, "loadFlow" | "inbox" | "pendingWork" | "findCheck" | "holds"> {
  const flows = new Map<string, ResolvedFlow>();
  return {
    /** A flow does not change under its hash, so it is read and parsed once. */
    async loadFlow(hash) {
      const known = flows.get(hash);
      if (known !== undefined) return known;
      const toFlow = (row: { body: string }) => JSON.parse(row.body) as ResolvedFlow;
      const loaded = await first(toFlow, "SELECT body FROM passrail.flows WHERE hash = $1", plainText(hash));
      if (loaded === undefined) return undefined;
      if (flows.size >= FLOWS_AT_MOST) flows.clear();
      flows.set(hash, loaded);
      return loaded;
    },
    inbox: () =>
      all(
        toInboxRecord,
        `SELECT i.run_id, r.number, i.item, r.flow, r.subject_id, r.subject_title
         FROM passrail.inbox i JOIN passrail.runs r ON r.number = i.run_number ORDER BY i.opened_at, r.number, i.number`,
      ),
    pendingWork: () => all(toWork, "SELECT * FROM passrail.work ORDER BY id"),
    holds: () => all(toHold, `SELECT ${HOLD_COLUMNS.join(", ")} FROM passrail.holds ORDER BY runner, account`),
    findCheck: (key, now) =>
      first(
        (row: { body: string }) => JSON.parse(row.body) as CachedCheck,
        "SELECT body FROM passrail.checks WHERE key = $1 AND saved_at >= $2",
        plainText(key),
        oldestKept(now),
      ),
  };
}

type OtherWrites = Pick<
  Store,
  | "noteAttempt"
  | "settleWork"
  | "saveFlow"
  | "deleteSubject"
  | "claimRequest"
  | "answerRequest"
  | "releaseRequest"
  | "saveCheck"
  | "setHold"
  | "liftHold"
>;

function otherWrites({ write }: Writer, runsOf: Store["runsOf"], forget: (runId: string) => void): OtherWrites {
  let claims = 0;
  return {
    noteAttempt: async (runId, stage, attempt, facts) =>
      void (await write({ type: "note", runId, stage, attempt, facts })),
    settleWork: async (id) => void (await write({ type: "settle", id })),
    saveFlow: async (resolved) =>
      void (await write({ type: "flow", hash: resolved.hash, body: JSON.stringify(resolved) })),
    async deleteSubject(subject) {
      // If the answer is lost, the second try finds no runs any more; the caller must still learn which ones went.
      const before = (await runsOf(subject)).map(({ id }) => id).toReversed();
      const deletion = (await write({ type: "delete", subject })) as Deletion;
      if (deletion.type !== "deleted") return deletion;
      for (const runId of before) forget(runId);
      return { type: "deleted", runIds: deletion.runIds.length === 0 ? before : deletion.runIds };
    },
    async claimRequest({ caller, key, request, at, forgetBefore }) {
      claims += 1;
      const trim = claims % CLAIMS_PER_COUNT === 0 ? KEPT_AT_MOST : 0;
      const job = { type: "claim", caller, key, request, at, forgetBefore, claim: randomUUID(), trim } as const;
      const found = (await write(job)) as { readonly type: ClaimResult["type"]; readonly answer?: string };
      return found.type === "answered"
        ? { type: "answered", answer: JSON.parse(found.answer ?? "null") as Json }
        : { type: found.type };
    },
    answerRequest: async ({ caller, key }, answer) =>
      void (await write({ type: "answer", caller, key, answer: JSON.stringify(answer) })),
    releaseRequest: async ({ caller, key }) => void (await write({ type: "release", caller, key })),
    setHold: async (hold) => void (await write({ type: "hold", hold: plainHold(toHoldRow(hold)) })),
    // A lost answer is asked for again, and the second try finds nothing: then it is lifted, too.
    liftHold: async ({ runner, account }) =>
      ((await write({ type: "lift", runner: plainText(runner), account: plainText(account) })) as { lifted: boolean })
        .lifted,
    async saveCheck(check) {
      const { key, by } = check;
      const kept = { forgetBefore: oldestKept(by.at), keep: KEPT_AT_MOST };
      await write({ type: "check", key, runId: by.runId, at: by.at, body: JSON.stringify(check), ...kept });
    },
  };
}

function oldestKept(now: string): string {
  return new Date(Date.parse(now) - CHECKS_KEPT_MS).toISOString();
}

function plainHold(row: HoldRow): HoldRow {
  const entries = Object.entries(row).map(([name, value]) => [name, value === null ? null : plainText(value)]);
  return Object.fromEntries(entries) as HoldRow;
}
