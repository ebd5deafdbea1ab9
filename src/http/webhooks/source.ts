// A source of deliveries: how it signs, its rights, and the meaning of its events. Built from the operator's settings; no delivery can
// change it.

import type { Rule } from "./mapping.ts";
import { gitHubRules, standardRules, supabaseRules } from "./rules.ts";

export type WebhookSource = {
  /** Its part of the path. */
  readonly name: string;
  /** The current secret first, then the one that is being replaced. Without a strong enough one the source is disabled. */
  readonly secrets: readonly string[];
  /** Whether it may answer gates as the operator. Other sources can only request an answer. */
  readonly rights: "request" | "operator";
  /** Authors whose tickets may start with a stage that is no gate. */
  readonly authors: readonly string[];
  readonly rules: readonly Rule[];
} & (
  | { readonly kind: "standard" }
  /** For senders that cannot sign: they hold a key of the source and name each delivery. */
  | { readonly kind: "token"; readonly isKey: (token: string) => boolean }
  /** Supabase's database webhooks: they hold a key, and their body names the delivery. */
  | { readonly kind: "supabase"; readonly isKey: (token: string) => boolean }
  /** `actors`: logins whose acts count; null for everyone whom the forge lets act. */
  | { readonly kind: "github"; readonly actors: readonly string[] | null }
);

export type GivenSource = {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly rights?: WebhookSource["rights"];
  readonly authors?: readonly string[];
  readonly flow?: string;
  /** Prefix of the number or id of its tickets. */
  readonly prefix?: string;
  /** Replaces the default rules. */
  readonly rules?: readonly Rule[];
};

/** A source that follows Standard Webhooks, with the event types of docs/webhooks.md. */
export function standardSource({ flow, prefix = "", rules, ...given }: GivenSource): WebhookSource {
  return { kind: "standard", ...base(given), rules: rules ?? standardRules({ flow: flow ?? null, prefix }) };
}

/** The same events, from a sender that holds a key instead of a secret. */
export function tokenSource(
  source: Omit<GivenSource, "secrets"> & { readonly isKey: (token: string) => boolean },
): WebhookSource {
  const { isKey, ...given } = source;
  return { ...standardSource({ ...given, secrets: [] }), kind: "token", isKey };
}

/** Changes of the table `features` in a Supabase project. */
export function supabaseSource(
  source: Omit<GivenSource, "secrets"> & { readonly isKey: (token: string) => boolean },
): WebhookSource {
  const { isKey, flow, prefix = "", rules, ...given } = source;
  const meant = rules ?? supabaseRules({ flow: flow ?? null, prefix });
  return { kind: "supabase", ...base({ ...given, secrets: [] }), isKey, rules: meant };
}

/** A repository or organisation on GitHub; issues with the label become tickets. */
export function gitHubSource(
  source: GivenSource & { readonly label?: string; readonly actors?: readonly string[] },
): WebhookSource {
  const { flow, prefix = "GH-", rules, label = "passrail", actors = null, ...given } = source;
  const meant = rules ?? gitHubRules({ flow: flow ?? null, label, prefix });
  return { kind: "github", ...base(given), actors, rules: meant };
}

function base({ name, secrets, rights = "request", authors = [] }: GivenSource) {
  return { name, secrets, rights, authors };
}
