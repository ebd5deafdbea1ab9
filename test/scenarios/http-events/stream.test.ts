// The event stream over a real socket, from a real store.

import { afterEach, expect, test } from "vitest";
import type { EventData, HandoffData, ResetData } from "../../../src/http/server/events/message.ts";
import { after, changeOf, eventAt, handOver, minute, newRun } from "../../../src/store/store.testsuite.ts";
import type { Store } from "../../../src/store/store.ts";
import { until } from "../../harness/until.ts";
import { allIds, type Client, openClient, openWorld, openWriter, type World } from "./world.ts";

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function world(options?: Parameters<typeof openWorld>[0]): Promise<World> {
  const opened = await openWorld(options);
  worlds.push(opened);
  return opened;
}

const idsOf = (client: Client) => client.seen.map(({ id }) => id);
const idsAfter = async (store: Store, id: string) => {
  const ids = await allIds(store);
  return ids.slice(ids.indexOf(id) + 1);
};
const hasOpened = (client: Client) => until("the stream is open", () => (client.text() === "" ? undefined : true));
const hasIds = (client: Client, ids: readonly string[]) =>
  until(`${ids.length} messages`, () => (client.seen.length >= ids.length ? true : undefined)).then(() =>
    expect(idsOf(client)).toEqual(ids),
  );

test("a stream tells its retry time, the position it begins at, and then each event with its sequence", async () => {
  const { store, hub, url } = await world();
  const write = await openWriter(store, "a");
  const client = openClient(url);
  await hasOpened(client);
  expect(client.text()).toBe("retry: 2000\nid: 3\n\n");
  await write();
  hub.catchUp();
  await hasIds(client, ["4", "5h", "5", "6", "7", "8", "9h", "9"]);
  expect(client.seen.map(({ name }) => name).slice(0, 3)).toEqual(["stage.finished", "handoff", "handoff.created"]);
  const [stored] = await store.events({ after: 3, limit: 1 });
  expect(JSON.parse(client.seen[0]?.data ?? "") as EventData).toEqual({
    seq: 4,
    runId: "a",
    subjectId: "v0.1:a",
    version: 4,
    event: stored?.event,
  });
});

test("what is published is told without asking the store; a gap makes it ask", async () => {
  const { store, hub, url } = await world();
  const write = await openWriter(store, "a");
  const client = openClient(url);
  await hasOpened(client);
  await write();
  hub.publish(await store.events({ after: 3, limit: 6 }));
  await hasIds(client, ["4", "5h", "5", "6", "7", "8", "9h", "9"]);
  await write();
  await write();
  hub.publish(await store.events({ after: 15, limit: 6 }));
  hub.publish(await store.events({ after: 15, limit: 6 }));
  await hasIds(client, await idsAfter(store, "3"));
});

test("every change of a handoff is told as handoff {storyId, handoffId, status}", async () => {
  const { store, hub, url } = await world();
  const client = openClient(`${url}?kinds=handoff`);
  await hasOpened(client);
  const other = newRun("other");
  const created = newRun("a", { subjectId: "v0.1:login" });
  const rejected = changeOf(after(created), [
    eventAt(minute(1), { type: "handoff.rejected", track: "main", number: 1, reason: "No tests." }),
  ]);
  const returned = handOver(after(rejected), { from: "analyst", to: "implementer" });
  const withdrawn = changeOf(after(returned), [
    eventAt(minute(9), { type: "handoff.withdrawn", track: "main", number: 2, reason: "Canceled." }),
  ]);
  for (const change of [other, created, rejected, returned, withdrawn]) await store.commit(change);
  hub.catchUp();
  const ids = await allIds(store, (_runId, type) => type.startsWith("handoff."));
  await hasIds(client, ids);
  const told = client.seen.filter(({ name }) => name === "handoff").map(({ data }) => JSON.parse(data) as HandoffData);
  const [first, second] = await store.handoffs("a");
  expect(told.slice(1)).toEqual([
    { storyId: "v0.1:login", handoffId: first?.id, status: "pending" },
    { storyId: "v0.1:login", handoffId: first?.id, status: "rejected" },
    { storyId: "v0.1:login", handoffId: second?.id, status: "pending" },
    { storyId: "v0.1:login", handoffId: second?.id, status: "accepted" },
    { storyId: "v0.1:login", handoffId: second?.id, status: "rejected" },
  ]);
});

test("a stream can be filtered by run, by ticket and by kind, live and from history alike", async () => {
  const { store, hub, url } = await world();
  const writers = [await openWriter(store, "a"), await openWriter(store, "b"), await openWriter(store, "c", "v0.1:b")];
  for (const write of writers) await write();
  const queries = {
    "run=a": (runId: string) => runId === "a",
    "ticket=v0.1:b": (runId: string) => runId !== "a",
    "kinds=stage.started,run": (_: string, type: string) => type === "stage.started" || type.startsWith("run."),
    "run=b&kinds=status": (runId: string, type: string) => runId === "b" && type === "status.changed",
    "run=nobody": () => false,
  };
  const clients = Object.entries(queries).map(
    ([query, wanted]) => [openClient(`${url}?after=0&${query}`), wanted] as const,
  );
  for (const [client, wanted] of clients) await hasIds(client, await allIds(store, wanted));
  for (const write of writers) await write();
  hub.catchUp();
  for (const [client, wanted] of clients) await hasIds(client, await allIds(store, wanted));
});

test("R-003-43: comments keep a quiet stream alive, and keep the position fresh of one whose filter lets nothing through", async () => {
  const { store, hub, url } = await world({ pingMs: 30 });
  const write = await openWriter(store, "a");
  const client = openClient(`${url}?run=nobody`);
  await until("pings", () => (client.text().split(": ping\n").length > 2 ? true : undefined));
  await write();
  hub.catchUp();
  await until("the position moves", () => (client.lastId() === "9" ? true : undefined));
  expect(client.seen).toEqual([]);
});

test("a position in the middle of the two messages of one event is taken up exactly there", async () => {
  const { store, url } = await world();
  await (await openWriter(store, "a"))();
  await hasIds(openClient(url, { lastEventId: "5h" }), ["5", "6", "7", "8", "9h", "9"]);
  await hasIds(openClient(`${url}?after=8`), ["9h", "9"]);
});

test("the header wins over the query, which a browser repeats with every reconnection", async () => {
  const { store, url } = await world();
  await (await openWriter(store, "a"))();
  await hasIds(openClient(`${url}?after=0`, { lastEventId: "7" }), ["8", "9h", "9"]);
});

test("what is no position of this stream is refused with 400 invalid_last_event_id, and nothing is opened", async () => {
  const { hub, url } = await world();
  for (const bad of ["abc", "-1", "1.5", "01", "0h", "1e3", " 1", "1 OR 1=1", "9007199254740993000", "5hh"]) {
    const answer = await fetch(`${url}?after=${encodeURIComponent(bad)}`);
    expect([bad, answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      bad,
      400,
      "invalid_last_event_id",
    ]);
  }
  expect((await fetch(url, { headers: { "last-event-id": "abc" } })).status).toBe(400);
  expect(hub.stats().clients).toBe(0);
});

test("who is too far behind, or ahead of everything, gets a reset and goes on from now", async () => {
  const { store, hub, url } = await world({ limits: { replayEvents: 10 } });
  const write = await openWriter(store, "a");
  await write();
  await write();
  const old = openClient(url, { lastEventId: "4" });
  const ahead = openClient(url, { lastEventId: "900" });
  const near = openClient(url, { lastEventId: "5" });
  const ofOneRun = openClient(`${url}?run=a`, { lastEventId: "0" });
  await hasIds(old, ["15"]);
  await hasIds(ahead, ["15"]);
  await hasIds(near, await idsAfter(store, "5"));
  await hasIds(ofOneRun, await allIds(store));
  const resetOf = ({ seen: [first] }: Client) => [first?.name, JSON.parse(first?.data ?? "") as ResetData];
  expect(resetOf(old)).toEqual(["reset", { reason: "too_old", seq: 15 }]);
  expect(resetOf(ahead)).toEqual(["reset", { reason: "unknown", seq: 15 }]);
  await write();
  hub.catchUp();
  const next = await idsAfter(store, "15");
  for (const client of [old, ahead]) await hasIds(client, ["15", ...next]);
});

test("a connection that breaks frees its place at once", async () => {
  const { store, hub, url } = await world();
  await openWriter(store, "a");
  const clients = Array.from({ length: 20 }, () => openClient(url));
  for (const client of clients) await hasOpened(client);
  expect(hub.stats().clients).toBe(20);
  for (const client of clients) client.stop();
  await until("all places are free", () => (hub.stats().clients === 0 ? true : undefined));
});

test("there are only so many places; the next one is told so", async () => {
  const { hub, url } = await world({ limits: { maxClients: 3 } });
  const clients = Array.from({ length: 3 }, () => openClient(url));
  for (const client of clients) await hasOpened(client);
  const refused = await fetch(url);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "too_many_streams"]);
  clients[0]?.stop();
  await until("a place is free", () => (hub.stats().clients === 2 ? true : undefined));
  await hasOpened(openClient(url));
});

test("a hub that closes ends its streams in order", async () => {
  const { hub, url } = await world();
  const client = openClient(url);
  await hasOpened(client);
  hub.close();
  await until("the stream is over", () => (client.isOver() ? true : undefined));
  expect((await fetch(url)).status).toBe(503);
});

test("slow reads of the store lose and repeat nothing that happens meanwhile", async () => {
  const slowly = (store: Store): Store => ({
    ...store,
    async events(query) {
      const page = await store.events(query);
      await new Promise((resolve) => setTimeout(resolve, 40));
      return page;
    },
  });
  const { store, hub, url } = await world({ view: slowly, limits: { pageEvents: 120, roundMs: 2 } });
  const write = await openWriter(store, "a");
  for (let round = 0; round < 20; round += 1) await write();
  const clients = [openClient(`${url}?after=0`), openClient(`${url}?after=0&run=a`), openClient(`${url}?after=60`)];
  let seq = await store.lastSeq();
  for (let round = 0; round < 60; round += 1) {
    await write();
    const events = await store.events({ after: seq, limit: 10 });
    seq = events.at(-1)?.seq ?? seq;
    hub.publish(events);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  for (const [index, client] of clients.entries()) {
    await hasIds(client, index === 2 ? await idsAfter(store, "60") : await allIds(store));
  }
});

test("a store that cannot be read for a moment ends replays, which are taken up again, and only delays what is live", async () => {
  let isBroken = false;
  const broken = (store: Store): Store => ({
    ...store,
    events: (query) => (isBroken ? Promise.reject(new Error("busy")) : store.events(query)),
  });
  const { store, hub, url } = await world({ view: broken });
  const write = await openWriter(store, "a");
  const live = openClient(url);
  await hasOpened(live);
  await write();
  hub.catchUp();
  await until("it is live", () => (live.lastId() === "9" ? true : undefined));
  isBroken = true;
  await write();
  hub.catchUp();
  const cut = openClient(`${url}?after=9`);
  await until("the replay is over", () => (cut.isOver() ? true : undefined));
  isBroken = false;
  await hasIds(live, await idsAfter(store, "3"));
  await hasIds(openClient(`${url}?after=9`, { lastEventId: cut.lastId() }), await idsAfter(store, "9"));
});
