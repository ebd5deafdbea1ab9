// Clients that lose their connection again and again, while several processes commit: each sees every message once and in order.

import { expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { allIds, type Client, openClient, openWorld, openWriter } from "./world.ts";

const SEEDS = [1, 2, 3, 4, 5];
const CLIENTS = 6;
const COMMITS = 60;

test.each(SEEDS)(
  "R16: who comes back with Last-Event-ID sees each event once, in order (seed %i)",
  { timeout: 120_000 },
  async (seed) => {
    const random = randomOf(seed);
    // Small limits, so that pages end, queues overflow and chunks are cut in the middle of an event all the time.
    const limits = { pageEvents: 7, pageBytes: 3000, chunkBytes: 900, queueBytes: 6000, queueMessages: 20, roundMs: 1 };
    const world = await openWorld({ limits });
    try {
      const other = world.openAgain();
      const writers = [
        await openWriter(world.store, "a"),
        await openWriter(other, "b"),
        await openWriter(world.store, "c"),
      ];
      const clients = Array.from({ length: CLIENTS }, (_, index) =>
        stubbornClient(index % 3 === 0 ? `${world.url}?after=0&run=a` : `${world.url}?after=0`, random),
      );
      const catching = setInterval(() => world.hub.catchUp(), 3);
      for (let commit = 0; commit < COMMITS; commit += 1) {
        await writers[Math.floor(random() * writers.length)]?.();
        // Some commits are told at once, others are found by looking.
        if (random() < 0.5)
          world.hub.publish(await world.store.events({ after: (await world.store.lastSeq()) - 6, limit: 6 }));
        if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, random() * 8));
      }
      const [all, ofRun] = [await allIds(world.store), await allIds(world.store, (runId) => runId === "a")];
      for (const [index, client] of clients.entries()) {
        const expected = index % 3 === 0 ? ofRun : all;
        await until("everything was seen", () => (client.ids.length >= expected.length ? true : undefined));
        expect(client.ids).toEqual(expected);
        client.stop();
      }
      clearInterval(catching);
      // How often each of them broke is a matter of pace; that they did is what makes this a test.
      expect(clients.reduce((sum, client) => sum + client.connections(), 0)).toBeGreaterThan(CLIENTS);
      await until("all places are free", () => (world.hub.stats().clients === 0 ? true : undefined));
    } finally {
      await world.close();
    }
  },
);

/** Breaks its connection after a random number of messages and comes back with the last id. */
function stubbornClient(url: string, random: () => number) {
  const ids: string[] = [];
  let current: Client | undefined;
  let connections = 0;
  let isStopped = false;
  connect(undefined);
  return {
    ids,
    connections: () => connections,
    stop() {
      isStopped = true;
      current?.stop();
    },
  };

  function connect(lastEventId: string | undefined): void {
    // It may have been stopped while it was about to come back.
    if (isStopped) return;
    connections += 1;
    let left = 1 + Math.floor(random() * 40);
    const client: Client = openClient(url, {
      lastEventId,
      onMessage({ id }) {
        ids.push(id);
        left -= 1;
        if (left > 0 || isStopped) return;
        client.stop();
        setTimeout(() => connect(client.lastId()), random() * 5);
      },
    });
    current = client;
  }
}

/** Mulberry32: small, and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
