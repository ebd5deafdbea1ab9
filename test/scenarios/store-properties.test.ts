// Properties of the stores, each on SQLite and on a real Postgres: random walks through shipped and generated flows are committed change by
// change, as an engine does, with repeats and late decisions in between. What was decided is what is stored.

import * as fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunEvent } from "../../src/core/run/event.ts";
import type { Run } from "../../src/core/run/run.ts";
import { readAddress } from "../../src/settings/database.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Change, Store } from "../../src/store/store.ts";
import { createDatabase } from "../harness/postgres.ts";
import { anyFlow, facts, moves, walk } from "../harness/random-walks.ts";

type Opened = { readonly store: Store; reopen(): Promise<Store>; close(): Promise<void> };

const STORES = [
  { name: "SQLite", open: onFile },
  { name: "Postgres", open: onPostgres },
];
const WALKS = 20;

test.each(STORES)(
  "R-X-04, R-000-16: whatever a run goes through, $name keeps it as it was decided, each signal once, and verifies",
  async ({ open }) => {
    const opened = await open();
    const { store } = opened;
    try {
      const expected = new Map<string, { readonly run: Run; readonly events: readonly RunEvent[] }>();
      let walks = 0;
      const whole = fc.asyncProperty(anyFlow, moves, facts, fc.nat(), async (flow, script, start, pick) => {
        walks += 1;
        const runId = `r${walks}`;
        const changes: Change[] = [];
        let version = 0;
        const { run, events } = walk(
          flow,
          script,
          start,
          (_before, after, { id }, made) => {
            changes.push({
              runId,
              expectedVersion: version,
              signalIds: [id],
              events: made,
              run: after,
              enqueue: [],
            });
            version += made.length;
          },
          runId,
        );
        for (const change of changes) expect(await store.commit(change)).toMatchObject({ type: "ok" });
        const again = changes[pick % changes.length] as Change;
        expect(await store.commit({ ...again, expectedVersion: version })).toMatchObject({ type: "duplicate" });
        expect(await store.commit({ ...again, signalIds: ["late"], expectedVersion: version - 1 })).toEqual({
          type: "conflict",
        });
        expected.set(runId, { run, events });
        expect(await store.loadRun(runId)).toMatchObject({ version, run: plain(run) });
      });
      await fc.assert(whole, { numRuns: WALKS });
      expect(await store.verify()).toEqual([]);
      const again = await opened.reopen();
      for (const [runId, { run, events }] of expected) {
        expect((await again.loadRun(runId))?.run).toEqual(plain(run));
        const stored = (await again.events({ after: 0, runId, limit: 10_000 })).map(({ event }) => event);
        expect(stored).toEqual(plain(events));
      }
    } finally {
      await opened.close();
    }
  },
);

/** As it is read back: what is undefined is not there. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

async function onFile(): Promise<Opened> {
  const dir = mkdtempSync(join(tmpdir(), "passrail-properties-"));
  const file = join(dir, "passrail.db");
  let store = openSqliteStore({ file });
  return {
    store,
    async reopen() {
      store.close();
      store = openSqliteStore({ file });
      return store;
    },
    async close() {
      store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function onPostgres(): Promise<Opened> {
  const database = await createDatabase();
  const address = readAddress(database.url, "the test's database");
  if (!address.ok) throw new Error(address.error.message);
  let store = await openPostgresStore({ address: address.value });
  return {
    store,
    async reopen() {
      store.close();
      store = await openPostgresStore({ address: address.ok ? address.value : expect.unreachable() });
      return store;
    },
    async close() {
      store.close();
      await database.drop();
    },
  };
}
