// Events per second through the live stream: from a real store over loopback to ten clients, live and from history.

import { get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import { PROBLEMS } from "../src/http/contract/problem.ts";
import { createEventHub, type EventHub } from "../src/http/server/events/hub.ts";
import { eventStream } from "../src/http/server/events/stream.ts";
import { inFolder, median, type Row } from "./measure.ts";
import { featureFlow, openWorkload, unlimited } from "./workload.ts";

const CLIENTS = 10;
const RUNS = 100;
const ROUNDS = 5;

export function measureEvents(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const workload = await openWorkload(`${dir}/store`, { flow: unlimited(featureFlow()) });
    const hub = createEventHub({ store: workload.store, now: () => performance.now() });
    const { url, server } = await listen(hub);
    const rates: { live: number[]; replay: number[] } = { live: [], replay: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const first = await workload.store.lastSeq();
      const live = await openClients(`${url}?after=${first}`);
      // The engine works at full speed and streams its events as they happen.
      const since = performance.now();
      const telling = setInterval(() => hub.catchUp(), 10);
      await workload.complete(RUNS);
      const last = await workload.store.lastSeq();
      await live.reach(last);
      const tookMs = performance.now() - since;
      clearInterval(telling);
      live.close();
      const replaySince = performance.now();
      const replay = await openClients(`${url}?after=${first}`);
      await replay.reach(last);
      const replayMs = performance.now() - replaySince;
      replay.close();
      if (round === 0) continue;
      rates.live.push(((last - first) * 1000) / tookMs);
      rates.replay.push(((last - first) * 1000) / replayMs);
    }
    hub.close();
    await new Promise((resolve) => void server.close(resolve));
    await workload.close();
    return [
      {
        name: `events to ${CLIENTS} clients, while runs go on`,
        value: median(rates.live),
        unit: "/s",
        limit: { is: "at least", value: 1000 },
        note: "each of them gets so many; the engine and the clients share the process",
      },
      { name: `events to ${CLIENTS} clients, from history`, value: median(rates.replay), unit: "/s" },
    ];
  });
}

async function listen(hub: EventHub): Promise<{ readonly url: string; readonly server: Server }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get("/", async (c) => {
    const answer = await eventStream(hub, {
      lastEventId: undefined,
      after: c.req.query("after"),
      filter: {},
      signal: c.req.raw.signal,
      destroy: () => c.env.outgoing.destroy(),
    });
    return answer.ok ? answer.value : c.text(answer.error.code, PROBLEMS[answer.error.code][0]);
  });
  const server = await new Promise<Server>((resolve) => {
    const listening = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(listening as Server));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** Clients only read ids: the cost of processing events is not measured. */
async function openClients(url: string) {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openClient(url)));
  return {
    reach: (seq: number) => Promise.all(clients.map((client) => client.reach(seq))),
    close() {
      for (const client of clients) client.close();
    },
  };
}

async function openClient(url: string) {
  let rest = "";
  let seen = 0;
  let onData = () => {};
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false }, resolve).on("error", reject);
  });
  response.setEncoding("latin1").on("error", () => {});
  response.on("data", (chunk: string) => {
    const text = rest + chunk;
    // Data contains no line breaks, so this is the head of a message.
    const head = /^\n\nid: (\d+)\n/.exec(text.slice(text.lastIndexOf("\n\nid: ")));
    seen = Number(head?.[1] ?? seen);
    rest = text.slice(-50);
    onData();
  });
  return {
    reach: (seq: number) =>
      new Promise<void>((resolve) => {
        onData = () => {
          if (seen >= seq) resolve();
        };
        onData();
      }),
    close: () => void response.destroy(),
  };
}
