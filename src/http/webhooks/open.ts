// Opens inbound webhooks from the user's settings: which sources may send, and the meaning of their events. Settings and secrets are read
// for every delivery, so that a secret is rotated or revoked without a restart. An unreadable secret disables only its source.

import { join } from "node:path";
import type { Settings } from "../../settings/settings.ts";
import type { Notice, Notifier } from "../../notify/notify.ts";
import type { SignedRoute } from "../server/app.ts";
import type { ServerDeps } from "../server/deps.ts";
import { createInbound } from "./inbound.ts";
import type { Rule } from "./mapping.ts";
import { openFileReplays } from "./replay-file.ts";
import {
  type GivenSource,
  gitHubSource,
  standardSource,
  supabaseSource,
  tokenSource,
  type WebhookSource,
} from "./source.ts";
import { readSecrets } from "../../settings/secrets.ts";
import type { Environment } from "../../settings/site.ts";
import type { RuleSettings, SourceSettings } from "../../settings/webhooks.ts";
import { optional } from "../../core/optional.ts";

type Reading = {
  readonly environment: Environment;
  /** Called with one sentence per disabled source, without any secret. */
  readonly onProblem: (text: string) => void;
};

export type InboundOptions = Reading & {
  readonly config: Pick<Settings, "webhooks">;
  /** The settings at the moment of a delivery; default: `config`. */
  readonly settings?: () => Promise<Pick<Settings, "webhooks">>;
  readonly home: string;
  readonly deps: ServerDeps;
  /** Shows people the requests of a source that may not answer. */
  readonly notifier: Notifier | null;
};

export type Inbound = { readonly signed: readonly SignedRoute[]; close(): void };

/** The value for `signed` of `createApp`. Only the process that performs may open it. */
export function openInbound({ config, settings, home, deps, notifier, ...reading }: InboundOptions): Inbound {
  const sourceOf = createSources({ ...reading, deps, settings: settings ?? (async () => config) });
  if (Object.keys(config.webhooks).length === 0) return { signed: [], close: () => {} };
  // The log says at once which of them cannot be used.
  void Promise.all(Object.keys(config.webhooks).map(sourceOf));
  const replays = openFileReplays(join(home, "webhook-ids"), { now: () => Date.parse(deps.now()) });
  const notify = async (request: Notice) => notifier?.notify(request);
  return { signed: createInbound({ ...deps, sourceOf, replays, notify }), close: () => replays.close() };
}

type SourceReading = Reading &
  Pick<InboundOptions, "deps"> & { readonly settings: () => Promise<Pick<Settings, "webhooks">> };

/** A problem is reported when it appears, not with every delivery. */
function createSources({ settings, onProblem, ...reading }: SourceReading) {
  const reported = new Map<string, string>();
  return async (name: string): Promise<WebhookSource | undefined> => {
    const { webhooks } = await settings();
    const own = Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
    if (own === undefined) return undefined;
    let problem = "";
    const source = readSource(name, own, { ...reading, onProblem: (text) => (problem = text) });
    if (problem !== "" && reported.get(name) !== problem) onProblem(problem);
    reported.set(name, problem);
    return source;
  };
}

function readSource(
  name: string,
  settings: SourceSettings,
  { environment, onProblem, deps }: Reading & Pick<InboundOptions, "deps">,
): WebhookSource {
  const { rights, flow, prefix, authors, rules } = settings;
  const common = {
    name,
    ...optional({ rights, flow, prefix, authors }),
    ...(rules === undefined ? {} : { rules: rules.map((rule) => toRule(rule, prefix ?? "")) }),
  };
  if (settings.kind === "token") return tokenSource({ ...common, isKey: (token) => isKeyOf(deps, name, token) });
  if (settings.kind === "supabase") return supabaseSource({ ...common, isKey: (token) => isKeyOf(deps, name, token) });
  const secrets = readSecrets(settings.secret_file, settings.secret_env, environment);
  // Without a secret the source answers 503; no unsigned delivery is ever taken.
  if (!secrets.ok) onProblem(`The webhook "${name}" is disabled: ${secrets.error.message}`);
  const given: GivenSource = { ...common, secrets: secrets.ok ? secrets.value : [] };
  if (settings.kind === "standard") return standardSource(given);
  const { label, actors } = settings;
  return gitHubSource({
    ...given,
    ...optional({ label, actors }),
  });
}

function isKeyOf({ keys }: ServerDeps, name: string, token: string): boolean {
  const holder = keys.find(token);
  return holder?.kind === "webhook" && holder.source === name;
}

function toRule(rule: RuleSettings, prefix: string): Rule {
  const { on, when, same } = rule;
  return {
    on,
    ...optional({ when, same }),
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
