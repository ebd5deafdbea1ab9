// Reaches the delivery log: through the daemon while one runs, otherwise in its file. The file has one writer, so a process that reads it
// here holds the engine lock meanwhile.

import { join } from "node:path";
import type { ApiProblem } from "../http/client/answer.ts";
import { createClient } from "../http/client/client.ts";
import { openForReading } from "../store/open-store.ts";
import { loadSettings } from "../settings/load.ts";
import type { Site } from "../settings/site.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type DaemonNote, findDaemon } from "./note.ts";
import type { DeliveryLog, EndpointStatus, SentDelivery } from "../notify/delivery-log.ts";
import { readPrivate } from "../http/server/token-file.ts";
import { takeEngineLock } from "../store/sqlite/lock.ts";
import { openNotifications } from "../notify/open.ts";
import { optional } from "../core/optional.ts";

export type ReachedLog = {
  /** Newest first. */
  deliveries(options: { readonly limit: number; readonly endpoint?: string }): Promise<Result<readonly SentDelivery[]>>;
  endpoints(): Promise<Result<readonly EndpointStatus[]>>;
  redeliver(id: string): Promise<Result<SentDelivery>>;
  sendTest(endpoint: string): Promise<Result<SentDelivery>>;
  enable(endpoint: string): Promise<Result<unknown>>;
  close(): Promise<void>;
};

export async function reachDeliveries(place: Site, onProblem: (text: string) => void): Promise<Result<ReachedLog>> {
  const daemon = findDaemon(place.home);
  return daemon === undefined ? openHere(place, onProblem) : ok(throughDaemon(place.home, daemon));
}

function throughDaemon(home: string, { url }: DaemonNote): ReachedLog {
  const token = readPrivate(join(home, "operator.token"))?.trim() ?? "";
  const client = createClient({ url, token });
  return {
    async deliveries(query) {
      const found = await client.call("listDeliveries", { query });
      return found.ok ? ok(found.value.deliveries) : err(problemOf(found.error));
    },
    async endpoints() {
      const found = await client.call("listEndpoints");
      return found.ok ? ok(found.value.endpoints) : err(problemOf(found.error));
    },
    async redeliver(delivery) {
      const sent = await client.call("redeliver", { params: { delivery }, body: {} });
      return sent.ok ? sent : err(problemOf(sent.error));
    },
    async sendTest(endpoint) {
      const sent = await client.call("testEndpoint", { params: { endpoint }, body: {} });
      return sent.ok ? sent : err(problemOf(sent.error));
    },
    async enable(endpoint) {
      const enabled = await client.call("enableEndpoint", { params: { endpoint }, body: {} });
      return enabled.ok ? enabled : err(problemOf(enabled.error));
    },
    close: async () => {},
  };
}

async function openHere(place: Site, onProblem: (text: string) => void): Promise<Result<ReachedLog>> {
  const { home, environment } = place;
  const config = await loadSettings({ ...place, flags: {} });
  if (!config.ok) return config;
  const lock = takeEngineLock(home);
  if ("heldBy" in lock)
    return err({
      code: "already_performed",
      message: `Another process works on ${home}: ${lock.heldBy}.`,
      hint: "Try again when it has ended, or start a daemon: passrail up --detach",
    });
  const store = await openForReading(place);
  const notifications = openNotifications({
    config: config.value,
    environment,
    home,
    store: store ?? { loadRun: async () => undefined },
    url: () => "",
    onProblem,
  });
  const log: DeliveryLog | undefined = notifications?.deliveries;
  return ok({
    async deliveries({ limit, endpoint }) {
      const wanted = (log?.deliveries() ?? []).filter((each) => endpoint === undefined || each.endpoint === endpoint);
      return ok(wanted.slice(0, limit));
    },
    endpoints: async () => ok(log?.endpoints() ?? []),
    redeliver: async (id) => log?.redeliver(id) ?? err(NOBODY),
    sendTest: async (endpoint) => log?.sendTest(endpoint) ?? err(NOBODY),
    enable: async (endpoint) => log?.enable(endpoint) ?? err(NOBODY),
    async close() {
      await notifications?.close();
      store?.close();
      lock.release();
    },
  });
}

const NOBODY: Problem = {
  code: "endpoint_not_found",
  message: "Notifications are off: neither a command nor an endpoint is set up.",
  hint: "docs/webhooks.md shows how",
};

function problemOf({ code, detail, hint }: ApiProblem): Problem {
  return { code, message: detail, ...optional({ hint }) };
}
