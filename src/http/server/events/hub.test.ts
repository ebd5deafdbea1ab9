import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "../../../store/sqlite/open.ts";
import { after, handOver, newRun } from "../../../store/store.testsuite.ts";
import type { Store, StoredEvent, StoredRun } from "../../../store/store.ts";
import { createEventHub, type EventHub, type HubLimits } from "./hub.ts";
import type { Subscription } from "./subscription.ts";

let dir = "";
let store: Store;
let hub: EventHub;
let nowMs = 0;
let run: StoredRun;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-hub-"));
  store = openSqliteStore({ file: join(dir, "passrail.db") });
  nowMs = 0;
  const created = newRun("a");
  await store.commit(created);
  run = after(created);
});

afterEach(() => {
  hub.close();
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(limits: Partial<HubLimits>, onCut = () => {}, view: Store = store): Promise<Subscription> {
  hub = createEventHub({ store: view, now: () => nowMs, limits: { roundMs: 0, ...limits } });
  const opened = await hub.subscribe({ after: undefined, filter: {}, onCut });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

/** Six events, published at once. */
async function write(): Promise<void> {
  hub.publish(await commit());
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function commit(): Promise<readonly StoredEvent[]> {
  const change = handOver(run, { from: "analyst", to: "analyst" });
  const seq = await store.lastSeq();
  await store.commit(change);
  run = after(change);
  return store.events({ after: seq, limit: 10 });
}

/** A store whose first page waits for the test, either before or after it is read. */
function held(when: "before" | "after"): { readonly view: Store; readonly letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const view: Store = {
    ...store,
    async events(query) {
      if (when === "before") await promise;
      const page = await store.events(query);
      if (when === "after") await promise;
      return page;
    },
  };
  return { view, letGo: resolve };
}

async function idsUpTo(subscription: Subscription, last: string): Promise<string[]> {
  const ids: string[] = [];
  while (ids.at(-1) !== last) {
    const bytes = await subscription.next();
    if (bytes === undefined) throw new Error("the subscription is over");
    ids.push(
      ...Array.from(
        Buffer.from(bytes)
          .toString()
          .matchAll(/^id: (\w+)$/gm),
        ([, id = ""]) => id,
      ),
    );
  }
  return ids;
}

test("who does not ask for more is cut off after the limit, not at it, and its place is free", async () => {
  let cuts = 0;
  const subscription = await open({ stallMs: 30_000 }, () => void (cuts += 1));
  await write();
  nowMs = 30_000;
  hub.sweep();
  expect([cuts, hub.stats().clients]).toEqual([0, 1]);
  nowMs = 30_001;
  hub.sweep();
  hub.sweep();
  expect([cuts, hub.stats()]).toEqual([1, { clients: 0, queuedBytes: 0 }]);
  expect(await subscription.next()).toBeUndefined();
});

test("who waits for events that do not come is not cut off", async () => {
  const subscription = await open({ stallMs: 30_000 });
  const waiting = subscription.next();
  nowMs = 10 * 30_000;
  hub.sweep();
  expect(hub.stats().clients).toBe(1);
  await write();
  expect(Buffer.from((await waiting) ?? []).toString()).toContain("id: 4\n");
});

test("what waits never grows beyond the limit, and who reads late still gets everything", async () => {
  const subscription = await open({ queueBytes: 8000 });
  const first = subscription.next();
  await write();
  await first;
  let most = 0;
  for (let round = 0; round < 30; round += 1) {
    await write();
    most = Math.max(most, hub.stats().queuedBytes);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(8000);
  const last = await store.lastSeq();
  const ids = await idsUpTo(subscription, String(last));
  const seqs = ids.filter((id) => !id.endsWith("h")).map(Number);
  expect(seqs).toEqual(Array.from({ length: last - 9 }, (_, index) => index + 10));
  expect(hub.stats().queuedBytes).toBe(0);
});

const TWO_HANDOFFS = ["4", "5h", "5", "6", "7", "8", "9h", "9", "10", "11h", "11", "12", "13", "14", "15h", "15"];

test.each(["before", "after"] as const)(
  "what is committed while a page is being read is told once, whether the page has it or not (held %s the read)",
  async (when) => {
    const { view, letGo } = held(when);
    const subscription = await open({}, () => {}, view);
    await write();
    const ids = idsUpTo(subscription, "15");
    await write();
    letGo();
    expect(await ids).toEqual(TWO_HANDOFFS);
  },
);

test("what a page had before it was published is not told again", async () => {
  const subscription = await open({});
  const first = await commit();
  const ids = idsUpTo(subscription, "9");
  await ids;
  const rest = idsUpTo(subscription, "15");
  hub.publish(first);
  await write();
  expect([...(await ids), ...(await rest)]).toEqual(TWO_HANDOFFS);
});

test("a message that is larger than the whole limit is told all the same", async () => {
  const subscription = await open({ queueBytes: 10, pageBytes: 10, chunkBytes: 10 });
  const ids = idsUpTo(subscription, "9");
  await write();
  expect(await ids).toEqual(["4", "5h", "5", "6", "7", "8", "9h", "9"]);
});

test("without listeners nothing is read and nothing is kept", async () => {
  let reads = 0;
  const counted: Store = {
    ...store,
    events(query) {
      reads += 1;
      return store.events(query);
    },
  };
  hub = createEventHub({ store: counted, now: () => nowMs });
  await write();
  hub.catchUp();
  expect(reads).toBe(0);
});

test("a changed ticket is told without an id, once however often it changed, also to who is behind", async () => {
  const client = await open({});
  hub.hint(["AGI-1", "AGI-2"]);
  hub.hint(["AGI-1"]);
  const text = Buffer.from((await client.next()) ?? []).toString();
  expect(text).toBe(
    'event: ticket.changed\ndata: {"subjectId":"AGI-1"}\n\nevent: ticket.changed\ndata: {"subjectId":"AGI-2"}\n\n',
  );
  const before = client.position();
  await write();
  expect(Buffer.from((await client.next()) ?? []).toString()).toMatch(/^id: /u);
  expect(client.position()).not.toBe(before);
  hub.hint(Array.from({ length: 1000 }, (_, at) => `AGI-${at}`));
  expect(Buffer.from((await client.next()) ?? []).toString()).toBe('event: ticket.changed\ndata: {"subjectId":""}\n\n');
});

test("what a working attempt has used so far is told without an id, the newest only, to those who follow its run", async () => {
  const usage = (inputTokens: number) => ({ usd: null, inputTokens, outputTokens: 1, cachedTokens: null });
  const data = { runId: "a", subjectId: "AGI-1", stage: "build", attempt: 1 };
  await open({});
  const followed = await hub.subscribe({ after: undefined, filter: { runId: "a" }, onCut() {} });
  const another = await hub.subscribe({ after: undefined, filter: { runId: "b" }, onCut() {} });
  if (!followed.ok || !another.ok) throw new Error("not subscribed");
  hub.usage({ ...data, usage: usage(1) });
  hub.usage({ ...data, usage: usage(2) });
  hub.usage({ ...data, runId: "b", usage: usage(3) });
  const text = async (client: typeof followed.value) => Buffer.from((await client.next()) ?? []).toString();
  expect(await text(followed.value)).toBe(
    `event: attempt.usage\ndata: ${JSON.stringify({ ...data, usage: usage(2) })}\n\n`,
  );
  expect(await text(another.value)).toContain('"inputTokens":3');
});

test("a client that asked for other things hears nothing of changed tickets", async () => {
  await open({});
  const other = await hub.subscribe({ after: undefined, filter: { subjectId: "AGI-7" }, onCut() {} });
  if (!other.ok) throw new Error(other.error.message);
  const waiting = other.value.next();
  hub.hint(["AGI-1"]);
  hub.hint(["AGI-7"]);
  expect(Buffer.from((await waiting) ?? []).toString()).toContain("AGI-7");
});
