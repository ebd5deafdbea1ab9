// Deliveries as real senders make them, for the tests of this folder; signed by third-party code where it exists.

import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const OLD_SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
export const GITHUB_SECRET = "It's a Secret to Everybody";

export type Sent = { readonly headers: Headers; readonly rawBody: Buffer };

export function standard(
  body: string,
  { id = "msg_1", atMs, secrets = [SECRET] }: { id?: string; atMs: number; secrets?: readonly string[] },
): Sent {
  const at = new Date(atMs);
  const signature = secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" ");
  const headers = new Headers({
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(atMs / 1000)),
    "webhook-signature": signature,
  });
  return { headers, rawBody: Buffer.from(body) };
}

export function gitHub(
  body: string,
  {
    event,
    id = "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    secret = GITHUB_SECRET,
  }: { event: string; id?: string; secret?: string },
): Sent {
  const headers = new Headers({
    "x-github-event": event,
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  });
  return { headers, rawBody: Buffer.from(body) };
}

export function changed(sent: Sent, name: string, value: string | null): Sent {
  const headers = new Headers(sent.headers);
  if (value === null) headers.delete(name);
  else headers.set(name, value);
  return { ...sent, headers };
}
