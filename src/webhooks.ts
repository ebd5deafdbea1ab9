// Webhooks put together from the user's settings: who may send us something, and whom we tell. A secret that cannot be read disables
// its source or endpoint and nothing else.

import { join } from "node:path";
import type { Config } from "./config.ts";
import type { RunEvent } from "./core/event.ts";
import { err, ok, type Result } from "./core/result.ts";
import { openItems, type Run } from "./core/run.ts";
import type { CommandEndpoint, Endpoint } from "./notify/endpoint.ts";
import { checkEndpoint } from "./notify/endpoint.ts";
import type { Notice, Notifier } from "./notify/notify.ts";
import { openWebhookNotifier, type WebhookNotifier, type WebhookNotifierOptions } from "./notify/webhook.ts";
import type { SignedRoute } from "./server/app.ts";
import type { ServerParts } from "./server/parts.ts";
import { createInbound } from "./server/webhooks/inbound.ts";
import type { Rule } from "./server/webhooks/mapping.ts";
import { openFileReplays } from "./server/webhooks/replay-file.ts";
import { type GivenSource, gitHubSource, standardSource, type WebhookSource } from "./server/webhooks/source.ts";
import type { Store } from "./store/store.ts";
import { type Environment, readSecrets, readText } from "./webhooks-secrets.ts";
import type { EndpointSettings, RuleSettings, SourceSettings } from "./webhooks-settings.ts";

type Reading = {
  readonly environment: Environment;
  /** Told what is disabled and why, in one sentence without any secret. */
  readonly onProblem: (text: string) => void;
};

export type NotificationOptions = Reading & {
  readonly config: Pick<Config, "notifyCommand" | "notifyEndpoints">;
  readonly home: string;
  readonly store: Pick<Store, "loadRun">;
  /** Where people look at what waits: links are `<url>/g/<item>`. Empty where nothing listens. */
  readonly url: () => string;
  /** Time, chance and addresses, for tests. */
  readonly with?: Partial<WebhookNotifierOptions>;
};

export type Notifications = {
  readonly notifier: Notifier;
  readonly log: WebhookNotifier;
  /** For the engine: what was answered is not told any more. */
  onChange(run: Run, events: readonly RunEvent[]): void;
  close(): Promise<void>;
};

/** Null where nobody is to be told. Only the process that performs may open it. */
export function openNotifications(options: NotificationOptions): Notifications | null {
  const { config, home, store, url, onProblem } = options;
  const endpoints = readEndpoints(config, options);
  if (endpoints.length === 0) return null;
  const log = openWebhookNotifier({
    endpoints,
    logFile: deliveriesFile(home),
    linkTo: (notice) => linkTo(url(), notice),
    isOpen: (item) => isOpen(store, item),
    onProblem,
    ...options.with,
  });
  return {
    notifier: log,
    log,
    onChange(run, events) {
      for (const event of events) {
        if (!isClosing(event)) continue;
        log.withdraw(`${run.id}.${event.number}`).catch((error: unknown) => onProblem(String(error)));
      }
    },
    close: () => log.close(),
  };
}

export function deliveriesFile(home: string): string {
  return join(home, "deliveries.jsonl");
}

type Closing = Extract<
  RunEvent,
  { type: "gate.answered" | "question.answered" | "escalation.resolved" | "budget.answered" | "item.withdrawn" }
>;

const CLOSING: ReadonlySet<string> = new Set<Closing["type"]>([
  "gate.answered",
  "question.answered",
  "escalation.resolved",
  "budget.answered",
  "item.withdrawn",
]);

function isClosing(event: RunEvent): event is Closing {
  return CLOSING.has(event.type);
}

async function isOpen(store: Pick<Store, "loadRun">, item: string): Promise<boolean> {
  const dot = item.lastIndexOf(".");
  const stored = await store.loadRun(item.slice(0, dot));
  return stored !== undefined && openItems(stored.run).some(({ number }) => number === Number(item.slice(dot + 1)));
}

function linkTo(url: string, { item, runId }: Notice): string | null {
  if (url === "" || runId === "") return null;
  return item === null ? `${url}/runs/${runId}` : `${url}/g/${item}`;
}

export type InboundOptions = Reading & {
  readonly config: Pick<Config, "webhooks">;
  readonly home: string;
  readonly parts: ServerParts;
  /** Who is told of wishes that a source may not carry out. */
  readonly notifier: Notifier | null;
};

export type Inbound = { readonly signed: readonly SignedRoute[]; close(): void };

/** What `createApp` takes as `signed`. Only the process that performs may open it. */
export function openInbound({ config, home, parts, notifier, ...reading }: InboundOptions): Inbound {
  const sources = Object.entries(config.webhooks).map(([name, settings]) => readSource(name, settings, reading));
  if (sources.length === 0) return { signed: [], close: () => {} };
  const replays = openFileReplays(join(home, "webhook-ids"), { now: () => Date.parse(parts.now()) });
  const tell = async (wish: Notice) => notifier?.notify(wish);
  return { signed: createInbound({ ...parts, sources, replays, tell }), close: () => replays.close() };
}

function readSource(name: string, settings: SourceSettings, reading: Reading): WebhookSource {
  const secrets = readSecrets(settings.secret_file, settings.secret_env, reading.environment);
  // Without a secret the source answers 503; nothing is ever taken unsigned.
  if (!secrets.ok) reading.onProblem(`The webhook "${name}" is disabled: ${secrets.error.message}`);
  const { rights, flow, prefix, authors, rules } = settings;
  const given: GivenSource = {
    name,
    secrets: secrets.ok ? secrets.value : [],
    ...(rights === undefined ? {} : { rights }),
    ...(flow === undefined ? {} : { flow }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(authors === undefined ? {} : { authors }),
    ...(rules === undefined ? {} : { rules: rules.map((rule) => toRule(rule, prefix ?? "")) }),
  };
  if (settings.kind === "standard") return standardSource(given);
  const { label, actors } = settings;
  return gitHubSource({
    ...given,
    ...(label === undefined ? {} : { label }),
    ...(actors === undefined ? {} : { actors }),
  });
}

function toRule(rule: RuleSettings, prefix: string): Rule {
  const { on, when, same } = rule;
  return {
    on,
    ...(when === undefined ? {} : { when }),
    ...(same === undefined ? {} : { same }),
    means: meaningOf(rule, prefix),
  };
}

function meaningOf(rule: RuleSettings, prefix: string): Rule["means"] {
  if (rule.do === "start") {
    const { flow, id, title, body = "", author = "", url = "" } = rule;
    const named = id === undefined ? null : { path: id, prefix };
    return { type: "create-ticket", flow, id: named, title, body, author, origin: url };
  }
  const { subject: path, pick = "whole", url = "", commit = "" } = rule;
  const stages = rule.stages === "any" ? null : rule.stages;
  const fields = { stages, subject: { path, pick }, origin: url, commit };
  if (rule.do === "done")
    return { type: "mark-done", ...fields, answer: rule.answer ?? "approve", otherwise: rule.else ?? "refuse" };
  return { type: "answer-gate", ...fields, answer: rule.answer, comment: rule.comment ?? "" };
}

function readEndpoints(config: NotificationOptions["config"], reading: Reading): readonly Endpoint[] {
  const command: readonly CommandEndpoint[] =
    config.notifyCommand === null
      ? []
      : [{ name: "command", format: "command", argv: config.notifyCommand, events: null }];
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
