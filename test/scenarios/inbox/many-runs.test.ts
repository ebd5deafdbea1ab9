// The inbox of a store after years of use: complete, and cheap once every run was looked at.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createLooseEnds } from "../../../src/app/loose-ends.ts";
import { loadCatalog } from "../../../src/catalog/catalog.ts";
import type { EventBody } from "../../../src/core/run/event.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { carryOf, changeOf, eventAt, minute } from "../../../src/store/store.testsuite.ts";

const STOPPED = 700;
const COMPLETED = 9_300;
const SLICE = 300;

let dir: string | undefined;
let store: Store | undefined;
afterEach(() => {
  store?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

/** One commit per run, many of them in one transaction. */
async function fill(into: Store, flowHash: string, runs: number, name: string, end: readonly EventBody[]) {
  for (let made = 0; made < runs; made += 500) {
    const count = Math.min(500, runs - made);
    await Promise.all(
      Array.from({ length: count }, (_, at) => {
        const id = `${name}${made + at}`;
        const subject = { id: `T-${id}`, title: `Ticket ${id}`, body: "" };
        const created = { type: "run.created", id, flow: "feature", flowHash, subject, facts: {}, word: "x" } as const;
        const ready = { type: "stage.ready", track: "main", stage: "spec", attempt: 1, carry: carryOf(1) } as const;
        return into.commit(
          changeOf(
            undefined,
            [created, ready, ...end].map((body) => eventAt(minute(made + at), body)),
          ),
        );
      }),
    );
  }
}

test("R-X-07: among 10,000 runs the inbox has every stopped one, says how many completed ones it has not looked at yet, and reads each once", async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-many-"));
  const own = openSqliteStore({ file: join(dir, "passrail.db") });
  store = own;
  const resolved = loadCatalog({ shippedDir }).resolve("feature");
  if (!resolved.ok) throw new Error("the shipped flow cannot be read");
  await own.saveFlow(resolved.value);
  const { hash } = resolved.value;
  await fill(own, hash, STOPPED, "s", [
    { type: "stage.stopped", track: "main", stage: "spec", reason: "exit 7", carry: carryOf(1) },
    { type: "run.stopped", reason: "exit 7" },
  ]);
  await fill(own, hash, COMPLETED, "c", [{ type: "run.completed" }]);
  const loaded: string[] = [];
  const counting: Store = {
    ...own,
    loadRun(id) {
      loaded.push(id);
      return own.loadRun(id);
    },
  };
  const look = createLooseEnds({ home: dir, project: dir, store: counting, commitOf: async () => null });

  const first = await look();
  expect(first.ends).toHaveLength(STOPPED);
  expect(first.ends[0]).toMatchObject({ kind: "stopped", title: "Ticket s0", run: { number: 1 } });
  expect(first.unseen).toBe(COMPLETED - SLICE);
  for (let looks = 0, { unseen } = first; unseen > 0; { unseen } = await look(), looks += 1) {
    expect(looks).toBeLessThan(COMPLETED / SLICE + 1);
    expect(loaded.splice(0).length).toBeLessThanOrEqual(STOPPED + SLICE);
  }
  // Nothing changed: no run is read again.
  loaded.length = 0;
  expect((await look()).ends).toHaveLength(STOPPED);
  expect(loaded).toEqual([]);

  // An old run goes on and completes: it alone is read.
  const old = await own.loadRun("s0");
  await own.commit(
    changeOf(old, [eventAt(minute(1), { type: "run.resumed" }), eventAt(minute(1), { type: "run.completed" })]),
  );
  const after = await look();
  expect(after.ends).toHaveLength(STOPPED - 1);
  expect(after.unseen).toBe(0);
  expect(new Set(loaded)).toEqual(new Set(["s0"]));
});
