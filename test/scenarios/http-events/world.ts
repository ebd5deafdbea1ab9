// A real store, a hub and a real listener with one route, for the tests of the event stream; and a client that reads it.

import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import { PROBLEMS } from "../../../src/http/contract/problem.ts";
import type { StreamFilter } from "../../../src/http/server/events/filter.ts";
import { createEventHub, type EventHub, type HubLimits } from "../../../src/http/server/events/hub.ts";
import { eventStream } from "../../../src/http/server/events/stream.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { after, handOver, newRun } from "../../../src/store/store.testsuite.ts";
import type { Store, StoredRun } from "../../../src/store/store.ts";
import { optional } from "../../../src/core/optional.ts";

export type World = {
  readonly store: Store;
  readonly hub: EventHub;
  readonly url: string;
  /** The same file, as another process sees it. */
  openAgain(): Store;
  /** Sockets of the server's side. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
};

type WorldOptions = {
  readonly limits?: Partial<HubLimits>;
  readonly pingMs?: number;
  /** What the hub sees of the store. */
  readonly view?: (store: Store) => Store;
};

export async function openWorld({ limits = {}, pingMs = 15_000, view = (store) => store }: WorldOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), "passrail-events-"));
  const file = join(dir, "passrail.db");
  const store = openSqliteStore({ file });
  const others: Store[] = [];
  const hub = createEventHub({ store: view(store), now: () => performance.now(), limits });
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get("/api/events", async (c) => {
    const { run, ticket, kinds, after: position } = c.req.query();
    const filter: StreamFilter = {
      ...optional({ runId: run, subjectId: ticket }),
      ...(kinds === undefined ? {} : { kinds: kinds.split(",") }),
    };
    const answer = await eventStream(hub, {
      lastEventId: c.req.header("last-event-id"),
      after: position,
      filter,
      signal: c.req.raw.signal,
      destroy: () => c.env.outgoing.destroy(),
      pingMs,
    });
    return answer.ok ? answer.value : c.json(answer.error, PROBLEMS[answer.error.code][0]);
  });
  const server = await new Promise<Server>((resolve) => {
    const listening = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(listening as Server));
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const world: World = {
    store,
    hub,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/events`,
    openAgain() {
      const other = openSqliteStore({ file });
      others.push(other);
      return other;
    },
    sockets,
    async close() {
      hub.close();
      const closed = new Promise((resolve) => void server.close(resolve));
      server.closeAllConnections();
      await closed;
      for (const each of [store, ...others]) each.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return world;
}

/** Runs that hand over for ever: three events to begin with, then six a time. */
export async function openWriter(store: Store, runId: string, subjectId = `v0.1:${runId}`) {
  const created = newRun(runId, { subjectId });
  let stored: StoredRun = after(created);
  let [from, to] = ["analyst", "implementer"];
  await commit(store, created);
  return async () => {
    const change = handOver(stored, { from, to });
    [from, to] = [to, from];
    await commit(store, change);
    stored = after(change);
  };
}

async function commit(store: Store, change: Parameters<Store["commit"]>[0]): Promise<void> {
  const result = await store.commit(change);
  if (result.type !== "ok") throw new Error(`the commit ended as ${result.type}`);
}

export type SeenMessage = { readonly id: string; readonly name: string; readonly data: string };

export type Client = {
  readonly seen: readonly SeenMessage[];
  /** Everything that came, as it came. */
  text(): string;
  /** As a browser remembers it, also from blocks that are no events. */
  lastId(): string | undefined;
  status(): number | undefined;
  isOver(): boolean;
  stop(): void;
};

type ClientOptions = { readonly lastEventId?: string | undefined; readonly onMessage?: (message: SeenMessage) => void };

/** Reads a stream as a browser does. `stop` is abrupt. */
export function openClient(url: string, { lastEventId, onMessage = () => {} }: ClientOptions = {}): Client {
  const seen: SeenMessage[] = [];
  let text = "";
  let rest = "";
  let lastId = lastEventId;
  let isOver = false;
  let response: IncomingMessage | undefined;
  const end = () => {
    isOver = true;
  };
  const request: ClientRequest = get(url, {
    agent: false,
    headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  });
  request.on("error", end).on("response", (answer) => {
    response = answer;
    answer.setEncoding("utf8").on("data", read).on("error", end).on("close", end);
  });
  return {
    seen,
    text: () => text,
    lastId: () => lastId,
    status: () => response?.statusCode,
    isOver: () => isOver,
    stop() {
      isOver = true;
      request.destroy();
    },
  };

  function read(chunk: string): void {
    text += chunk;
    const blocks = `${rest}${chunk}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      // What came after it was stopped was not seen.
      if (isOver) return;
      const fields = new Map(
        block.split("\n").map((line) => [line.split(": ", 1)[0] ?? "", line.replace(/^\w*: /, "")]),
      );
      lastId = fields.get("id") ?? lastId;
      const [name, data] = [fields.get("event"), fields.get("data")];
      if (name === undefined || data === undefined) continue;
      const message = { id: fields.get("id") ?? "", name, data };
      seen.push(message);
      onMessage(message);
    }
  }
}

/** Ids of all messages that the stored events make, in order. */
export async function allIds(store: Store, wanted: (runId: string, type: string) => boolean = () => true) {
  const ids: string[] = [];
  for (let position = 0; ; ) {
    const page = await store.events({ after: position, limit: 1000 });
    for (const { seq, runId, event } of page) {
      position = seq;
      if (!wanted(runId, event.type)) continue;
      if (event.type.startsWith("handoff.")) ids.push(`${seq}h`);
      ids.push(String(seq));
    }
    if (page.length < 1000) return ids;
  }
}
