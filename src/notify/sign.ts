// The headers of a message: its id, its time and its signatures, after Standard Webhooks.

import { createHash, randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Endpoint, WebhookEndpoint } from "./endpoint.ts";
import type { Notice } from "./notify.ts";

/** Signed at each try: a receiver refuses an old timestamp. */
export function headersOf(
  { format, secrets, token }: WebhookEndpoint,
  id: string,
  body: string,
  nowMs: number,
): Record<string, string> {
  const seconds = Math.floor(nowMs / 1000);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(seconds * 1000), body));
  return {
    "content-type": "application/json",
    "user-agent": "passrail",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") }),
    ...(format === "ntfy" && token !== null ? { authorization: `Bearer ${token}` } : {}),
  };
}

/** The same id for a repeated notice; without an item and a key, equal words may mean different things. */
export function idOf(endpoint: Pick<Endpoint, "name">, notice: Notice): string {
  if (notice.item === null && notice.key !== undefined) return hashed([endpoint.name, notice.runId, notice.key]);
  if (notice.item === null) return `msg_${randomBytes(18).toString("base64url")}`;
  return hashed([endpoint.name, notice.runId, notice.item, notice.event, notice.to, notice.text]);
}

function hashed(parts: readonly string[]): string {
  return `msg_${createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 24)}`;
}

/** Identifies the URL or the command without exposing it. */
export function targetOf(endpoint: Endpoint): string {
  const target = endpoint.format === "command" ? JSON.stringify(endpoint.argv) : endpoint.url;
  return createHash("sha256").update(target).digest("base64url");
}
