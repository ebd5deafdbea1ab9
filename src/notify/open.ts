// Notifications as the user's settings describe them: the endpoints, their secrets and their links. Settings and secrets are read again for
// every try, so that a secret is rotated or revoked without a restart. A secret that cannot be read disables its endpoint and nothing else.

import { join } from "node:path";
import type { Settings } from "../settings/settings.ts";
import { isClosing } from "../core/run/closing-event.ts";
import type { RunEvent } from "../core/run/event.ts";
import { err, ok, type Result } from "../core/result.ts";
import { openItems, type Run } from "../core/run/run.ts";
import { checkEndpoint, type CommandEndpoint, type Endpoint } from "./endpoint.ts";
import type { NoticeDelivery } from "./deliveries.ts";
import type { Notice, Notifier } from "./notify.ts";
import { openWebhookNotifier, type WebhookNotifier, type WebhookNotifierOptions } from "./webhook.ts";
import type { DeliveryLog, SentDelivery } from "./delivery-log.ts";
import type { Store } from "../store/store.ts";
import { readSecrets, readText } from "../settings/secrets.ts";
import type { Environment } from "../settings/site.ts";
import type { EndpointSettings } from "../settings/webhooks.ts";

type Reading = {
  readonly environment: Environment;
  /** Receives one sentence without any secret for each endpoint that is disabled. */
  readonly onProblem: (text: string) => void;
};

export type NotificationOptions = Reading & {
  readonly config: Pick<Settings, "notifyCommand" | "notifyEndpoints">;
  /** The settings at the moment of a try; default: `config`. */
  readonly settings?: () => Promise<Pick<Settings, "notifyEndpoints">>;
  readonly home: string;
  readonly store: Pick<Store, "loadRun">;
  /** The dashboard's address: links are `<url>/g/<item>`. Empty without a server. */
  readonly url: () => string;
  /** Time, chance and addresses, for tests. */
  readonly with?: Partial<WebhookNotifierOptions>;
};

export type Notifications = {
  readonly notifier: Notifier;
  /** For the server. */
  readonly deliveries: DeliveryLog;
  /** The engine calls it after every stored change: notices about answered items are withdrawn. */
  onChange(run: Run, events: readonly RunEvent[]): void;
  close(): Promise<void>;
};

/** Null if the settings name no endpoint. Only the process that performs may open it. */
export function openNotifications(options: NotificationOptions): Notifications | null {
  const { config, home, store, url, onProblem } = options;
  const endpoints = readEndpoints(config, options);
  if (endpoints.length === 0) return null;
  const log = openWebhookNotifier({
    endpoints,
    reread: async (name) => {
      // A command has no secret; the project's file may name it as well.
      if (name === COMMAND && config.notifyCommand !== null) return ok(commandOf(config.notifyCommand));
      return reread(name, (await options.settings?.()) ?? config, options.environment);
    },
    logFile: join(home, "deliveries.jsonl"),
    linkTo: (notice) => linkTo(url(), notice),
    isOpen: (item) => isOpen(store, item),
    onProblem,
    ...options.with,
  });
  return {
    notifier: log,
    deliveries: deliveryLog(log),
    onChange(run, events) {
      for (const event of events) {
        if (!isClosing(event)) continue;
        log.withdraw(`${run.id}.${event.number}`).catch((error: unknown) => onProblem(String(error)));
      }
    },
    close: () => log.close(),
  };
}

function deliveryLog(log: WebhookNotifier): DeliveryLog {
  const sent = (result: Result<NoticeDelivery>): Result<SentDelivery> => (result.ok ? ok(show(result.value)) : result);
  return {
    deliveries: () => log.deliveries().toReversed().map(show),
    endpoints: () => log.endpoints(),
    redeliver: async (id) => sent(await log.redeliver(id)),
    sendTest: async (endpoint) => sent(await log.sendTest(endpoint)),
    enable: (endpoint) => log.enable(endpoint),
  };
}

function show({ id, endpoint, queuedAt, notice, tries, history, state }: NoticeDelivery): SentDelivery {
  const { event, runId, item, text } = notice;
  const dueAt = state.status === "pending" ? state.dueAt : null;
  return { id, endpoint, queuedAt, event, runId, item, text, status: state.status, dueAt, tries, history };
}

async function isOpen(store: Pick<Store, "loadRun">, item: string): Promise<boolean> {
  const dot = item.lastIndexOf(".");
  const stored = await store.loadRun(item.slice(0, dot));
  return stored !== undefined && openItems(stored.run).some(({ number }) => number === Number(item.slice(dot + 1)));
}

function linkTo(url: string, { item, runId, event }: Notice): string | null {
  if (url === "" || event === "test") return null;
  if (event === "report") return `${url}/report`;
  // About a file or a ticket: the inbox shows it.
  if (runId === "") return `${url}/`;
  return item === null ? `${url}/runs/${runId}` : `${url}/g/${item}`;
}

function reread(name: string, config: Pick<Settings, "notifyEndpoints">, environment: Environment): Result<Endpoint> {
  const settings = config.notifyEndpoints.find((each) => each.name === name);
  if (settings !== undefined) return readEndpoint(settings, environment);
  return err({ code: "endpoint_not_found", message: `the settings have no endpoint "${name}" any more` });
}

const COMMAND = "command";

function commandOf(argv: readonly string[]): CommandEndpoint {
  return { name: COMMAND, format: "command", argv, events: null };
}

function readEndpoints(config: NotificationOptions["config"], reading: Reading): readonly Endpoint[] {
  const command = config.notifyCommand === null ? [] : [commandOf(config.notifyCommand)];
  const others = config.notifyEndpoints.flatMap((settings) => {
    const read = readEndpoint(settings, reading.environment);
    if (read.ok) return [read.value];
    reading.onProblem(read.error.message);
    return [];
  });
  return [...command, ...others];
}

function readEndpoint(settings: EndpointSettings, environment: Environment): Result<Endpoint> {
  const { name, format, events, allow_http, allow_private, ca_file } = settings;
  const wrong = (why: string) => err({ code: "invalid_setting", message: `Nothing is sent to "${name}": ${why}` });
  const url =
    settings.url === undefined ? readSecrets(settings.url_file, settings.url_env, environment) : ok([settings.url]);
  if (!url.ok) return wrong(url.error.message);
  const secrets =
    settings.format === "standard" ? readSecrets(settings.secret_file, settings.secret_env, environment) : ok([]);
  if (!secrets.ok) return wrong(secrets.error.message);
  const hasToken =
    settings.format === "ntfy" && (settings.token_file !== undefined || settings.token_env !== undefined);
  const token = hasToken ? readSecrets(settings.token_file, settings.token_env, environment) : ok([]);
  if (!token.ok) return wrong(token.error.message);
  const ca = ca_file === undefined ? ok(null) : readText(ca_file, environment);
  if (!ca.ok) return wrong(ca.error.message);
  return checkEndpoint({
    name,
    format,
    url: url.value[0] ?? "",
    secrets: secrets.value,
    token: token.value[0] ?? null,
    events: events ?? null,
    allowHttp: allow_http ?? false,
    allowPrivate: allow_private ?? false,
    ca: ca.value,
  });
}
