// Where deliveries come from: who signs them, what they may do, and what they mean. Made from the operator's settings; nothing that a
// delivery says can change it.

import type { Rule } from "./mapping.ts";
import { gitHubRules, STANDARD_RULES } from "./rules.ts";

export type WebhookSource = {
  /** Part of the path that it sends to. */
  readonly name: string;
  /** The one in use first, then the one that is being replaced. None, or none that is strong enough: the source is disabled. */
  readonly secrets: readonly string[];
  /** Whether its word counts as the operator's at a gate. Others can only ask for an answer. */
  readonly rights: "request" | "operator";
  readonly rules: readonly Rule[];
} & (
  | { readonly kind: "standard" }
  /** `actors`: logins whose acts count; null for everyone whom the forge let do it. */
  | { readonly kind: "github"; readonly actors: readonly string[] | null }
);

type Given = { readonly name: string; readonly secrets: readonly string[]; readonly rights?: WebhookSource["rights"] };

/** A source that follows Standard Webhooks, with the event types of docs and `STANDARD_RULES`. */
export function standardSource({ name, secrets, rights = "request" }: Given): WebhookSource {
  return { kind: "standard", name, secrets, rights, rules: STANDARD_RULES };
}

/** A repository or organisation on GitHub; issues with the label become tickets. */
export function gitHubSource(
  given: Given & { readonly label?: string; readonly actors?: readonly string[] },
): WebhookSource {
  const { name, secrets, rights = "request", label = "passrail", actors = null } = given;
  return { kind: "github", name, secrets, rights, actors, rules: gitHubRules(label) };
}
