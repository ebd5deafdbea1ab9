// The receivers of notices, from the operator's settings.

import { err, ok, type Result } from "../core/result.ts";
import { checkUrl } from "./address.ts";

export type WebhookEndpoint = {
  /** Its name in the log. The log never contains the URL: Slack's is itself a secret. */
  readonly name: string;
  readonly url: string;
  readonly format: "standard" | "slack" | "ntfy";
  /** `whsec_…`; each signs, so that the receiver can rotate them. Needed for the standard format. */
  readonly secrets: readonly string[];
  /** Names of events that are sent; null for all. */
  readonly events: readonly string[] | null;
  /** For ntfy: sent as a bearer token. */
  readonly token: string | null;
  /** Allows http; otherwise only https. */
  readonly allowHttp: boolean;
  /** Allows private addresses; otherwise only those of the public Internet. */
  readonly allowPrivate: boolean;
  /** Certificate of a private authority, as PEM; null for the public ones. */
  readonly ca: string | null;
};

/** The operator's program; it gets the notice on its standard input. */
export type CommandEndpoint = {
  readonly name: string;
  readonly format: "command";
  readonly argv: readonly string[];
  readonly events: readonly string[] | null;
};

export type Endpoint = WebhookEndpoint | CommandEndpoint;

const NAME = /^[a-z][a-z0-9-]{0,47}$/;
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** Checks an endpoint's settings before anything is sent. Its host is looked up at each delivery, not here. */
export function checkEndpoint(endpoint: Endpoint): Result<Endpoint> {
  const { name } = endpoint;
  if (!NAME.test(name)) return wrong(name, "a name is a-z, 0-9 and dashes, up to 48 characters");
  if (endpoint.format === "command")
    return endpoint.argv.length === 0 ? wrong(name, "a command is needed") : ok(endpoint);
  const { format, secrets } = endpoint;
  const url = checkUrl(endpoint.url, endpoint);
  if (!url.ok) return wrong(name, url.error.message);
  if (format === "standard" && secrets.length === 0) return wrong(name, "the standard format needs a secret");
  if (!secrets.every(isSecret)) {
    return wrong(name, `a secret is whsec_ and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes as base64`);
  }
  if (format === "ntfy" && topicOf(url.value) === null) return wrong(name, "ntfy needs a URL that ends with the topic");
  return ok(endpoint);
}

/** The topic of an ntfy URL; null if there is none. */
export function topicOf(url: URL): string | null {
  return /^\/([A-Za-z0-9_-]{1,64})\/?$/.exec(url.pathname)?.[1] ?? null;
}

function isSecret(secret: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]{1,200}={0,2})$/.exec(secret)?.[1];
  if (base64 === undefined) return false;
  const { length } = Buffer.from(base64, "base64");
  return length >= MIN_KEY_BYTES && length <= MAX_KEY_BYTES;
}

function wrong(name: string, why: string): Result<never> {
  return err({
    code: "invalid_setting",
    message: `The endpoint "${name.slice(0, 60)}" cannot be used: ${why}.`,
  });
}
