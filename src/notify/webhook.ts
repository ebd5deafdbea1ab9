// Notifies people through webhooks and commands. The sender waits only until the notice is in the log; the pump sends, retries and gives
// up, also after a restart. A receiver gets each message at least once, under one id.

import { err, ok, type Result } from "../core/result.ts";
import { type Resolve, resolveBySystem } from "./address.ts";
import { type Deliveries, type NoticeDelivery, openDeliveries } from "./deliveries.ts";
import { createDeliveryPump, isDisabled } from "./delivery-pump.ts";
import type { EndpointStatus } from "./delivery-log.ts";
import { checkEndpoint, type Endpoint } from "./endpoint.ts";
import { endpointStatus } from "./endpoint-status.ts";
import type { Notice, Notifier } from "./notify.ts";
import type { SendOutcome } from "./send.ts";
import { type NoticeSending, sendNotice } from "./send-notice.ts";
import { idOf, targetOf } from "./sign.ts";

export type WebhookNotifierOptions = {
  /** Each has passed `checkEndpoint`. */
  readonly endpoints: readonly Endpoint[];
  /** The endpoint as the settings and its secrets are at the moment of a try; default: as it was given. */
  readonly reread?: (name: string) => Promise<Result<Endpoint>>;
  /** In the home folder. Only the process that performs may open it. */
  readonly logFile: string;
  /** The page that shows the subject of a notice. */
  readonly linkTo?: (notice: Notice) => string | null;
  /** Whether an item still waits for an answer; asked before each try, since a person may have answered it meanwhile. */
  readonly isOpen?: (item: string) => Promise<boolean>;
  /** Receives one sentence for each notice that could not be delivered. */
  readonly onProblem?: (text: string) => void;
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  /** How long closing waits for running tries. */
  readonly graceMs?: number;
  readonly now?: () => number;
  /** Calls `then` once after `ms`; the returned function cancels the call. */
  readonly wait?: (ms: number, then: () => void) => () => void;
  /** From 0 to 1. */
  readonly chance?: () => number;
};

export type WebhookNotifier = Notifier & {
  /** Oldest first, the last few hundred. */
  deliveries(): readonly NoticeDelivery[];
  /** The endpoints of the settings and their health. */
  endpoints(): readonly EndpointStatus[];
  /** Sends a short text to one endpoint, regardless of its events. */
  sendTest(endpoint: string): Promise<Result<NoticeDelivery>>;
  /** Sends a delivery again under its old id, whatever its state. */
  redeliver(id: string): Promise<Result<NoticeDelivery>>;
  /** The item was answered elsewhere: withdraws its unsent deliveries and returns their number. */
  withdraw(item: string): Promise<number>;
  /** Whether the endpoint answered 410 and is left out. */
  isDisabled(endpoint: string): boolean;
  /** Uses a disabled endpoint again. */
  enable(endpoint: string): Promise<Result<null>>;
  /** Waits a short while for running tries; pending deliveries stay in the log. */
  close(): Promise<void>;
};

const TIMEOUT_MS = 15_000;
const GRACE_MS = 5000;
/** Longer texts are never sent. */
const MAX_TEXT = 6000;

export function openWebhookNotifier(options: WebhookNotifierOptions): WebhookNotifier {
  const { linkTo = () => null, resolve = resolveBySystem, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const endpoints = new Map(options.endpoints.map((endpoint) => [requireEndpoint(endpoint).name, endpoint]));
  const log = openDeliveries(options.logFile);
  const pump = createDeliveryPump({
    log,
    endpoints,
    send: (...tried) =>
      sendCurrent(options, (notice) => ({ link: linkTo(notice), nowMs: now(), resolve, timeoutMs }), ...tried),
    isOpen: options.isOpen ?? (async () => true),
    onProblem: options.onProblem ?? (() => undefined),
    now,
    wait: options.wait ?? waitUnreferenced,
    chance: options.chance ?? Math.random,
  });
  let isClosed = false;
  pump.run();

  return {
    async notify(notice) {
      if (isClosed) return false;
      const wanted = [...endpoints.values()].filter(
        (endpoint) =>
          (endpoint.events === null || endpoint.events.includes(notice.event)) && !isDisabled(log, endpoint),
      );
      for (const endpoint of wanted) queue(log, endpoint, notice, now());
      pump.run();
      return wanted.length > 0;
    },
    deliveries: () => log.list(),
    endpoints: () => [...endpoints.values()].map((endpoint) => endpointStatus(endpoint, log)),
    async sendTest(name) {
      const endpoint = usableEndpoint(name, endpoints, log, `There is no endpoint "${cut(name)}".`);
      if (!endpoint.ok) return endpoint;
      const delivery = queue(log, endpoint.value, TEST, now());
      pump.run();
      return ok(log.find(delivery.id) ?? delivery);
    },
    async redeliver(id) {
      const found = log.find(id);
      if (found === undefined) return problem("delivery_not_found", `There is no delivery ${cut(id)} in the log.`);
      const endpoint = usableEndpoint(
        found.endpoint,
        endpoints,
        log,
        `There is no endpoint "${found.endpoint}" any more.`,
      );
      if (!endpoint.ok) return endpoint;
      if (pump.isRunning(id))
        return problem("delivery_running", `The delivery ${cut(id)} is being sent at this moment.`);
      log.change(id, { tries: 0, attempt: null, state: { status: "pending", dueAt: iso(now()) } });
      pump.run();
      return ok(log.find(id) ?? found);
    },
    async withdraw(item) {
      const pending = log.list().filter(({ notice, state }) => notice.item === item && state.status === "pending");
      const unsent = pending.filter(({ id }) => !pump.isRunning(id));
      for (const { id } of pending) pump.setUnwanted(id);
      for (const { id, tries } of unsent)
        log.change(id, { tries, attempt: null, state: { status: "withdrawn", at: iso(now()) } });
      return unsent.length;
    },
    isDisabled(name) {
      const endpoint = endpoints.get(name);
      return endpoint !== undefined && isDisabled(log, endpoint);
    },
    async enable(name) {
      const endpoint = endpoints.get(name);
      if (endpoint === undefined) return problem("endpoint_not_found", `There is no endpoint "${cut(name)}".`);
      if (isDisabled(log, endpoint)) log.setDisabled(name, targetOf(endpoint), false);
      return ok(null);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pump.close(options.graceMs ?? GRACE_MS);
      log.close();
    },
  };
}

/** Nothing is sent with a secret that may have been revoked. */
async function sendCurrent(
  { reread }: WebhookNotifierOptions,
  sendingOf: (notice: Notice) => Omit<NoticeSending, "signal">,
  endpoint: Endpoint,
  delivery: NoticeDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const current = (await reread?.(endpoint.name)) ?? ok(endpoint);
  if (!current.ok) return { type: "unreachable", reason: current.error.message };
  return sendNotice(current.value, delivery, { ...sendingOf(delivery.notice), signal });
}

function usableEndpoint(
  name: string,
  endpoints: ReadonlyMap<string, Endpoint>,
  log: Deliveries,
  missing: string,
): Result<Endpoint> {
  const endpoint = endpoints.get(name);
  if (endpoint === undefined) return problem("endpoint_not_found", missing);
  return isDisabled(log, endpoint) ? problem("endpoint_disabled", `The endpoint "${name}" is disabled.`) : ok(endpoint);
}

const TEST: Notice = {
  runId: "",
  to: "you",
  event: "test",
  text: "A test from Passrail: you will be notified here when a run waits for an answer.",
  item: null,
};

/** An engine that crashed before it recorded a notice sends it twice; the log knows its id. */
function queue(log: Deliveries, endpoint: Endpoint, notice: Notice, nowMs: number): NoticeDelivery {
  const id = idOf(endpoint, notice);
  const known = log.find(id);
  if (known !== undefined) return known;
  const at = iso(nowMs);
  const kept = { ...notice, text: notice.text.slice(0, MAX_TEXT) };
  const state = { status: "pending", dueAt: at } as const;
  const added = { id, endpoint: endpoint.name, queuedAt: at, notice: kept, tries: 0, history: [], state };
  log.add(added);
  return added;
}

function requireEndpoint(endpoint: Endpoint): Endpoint {
  const checked = checkEndpoint(endpoint);
  if (!checked.ok) throw new Error(checked.error.message);
  return checked.value;
}

/** An otherwise idle process need not stay alive for a message that is due in hours. */
function waitUnreferenced(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms).unref();
  return () => clearTimeout(timer);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function cut(text: string): string {
  return text.slice(0, 60);
}

function problem(code: string, message: string): Result<never> {
  return err({ code, message });
}
