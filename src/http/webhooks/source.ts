// Where deliveries come from: who signs them, what they may do, and what they mean. Made from the operator's settings; nothing that a
// delivery says can change it.

import type { Rule } from "./mapping.ts";
import { gitHubRules, standardRules } from "./rules.ts";

export type WebhookSource = {
  /** Part of the path that it sends to. */
  readonly name: string;
  /** The one in use first, then the one that is being replaced. None, or none that is strong enough: the source is disabled. */
  readonly secrets: readonly string[];
  /** Whether its word counts as the operator's at a gate. Others can only ask for an answer. */
  readonly rights: "request" | "operator";
  /** Whose tickets may start with a stage that is no gate. */
  readonly authors: readonly string[];
  readonly rules: readonly Rule[];
} & (
  | { readonly kind: "standard" }
  /** For senders that cannot sign: whoever holds a key of the source, and names each delivery. */
  | { readonly kind: "token"; readonly isKey: (token: string) => boolean }
  /** `actors`: logins whose acts count; null for everyone whom the forge let do it. */
  | { readonly kind: "github"; readonly actors: readonly string[] | null }
);

export type GivenSource = {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly rights?: WebhookSource["rights"];
  readonly authors?: readonly string[];
  readonly flow?: string;
  /** Before the number or id of a ticket from here. */
  readonly prefix?: string;
  /** Instead of those that are ours. */
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
