// Verifies that a delivery's sender holds the secret: Standard Webhooks 1.0, GitHub, or a key of ours. It checks the raw bytes, before
// anything is parsed. It does not detect replays, because a replay has a valid signature.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { err, ok, type Result } from "../../core/result.ts";
import type { WebhookSource } from "./source.ts";

/** `Headers` of a request, or anything that reads like it: names in any case, null if absent. */
export type HeaderReader = { get(name: string): string | null };

export type VerifyCode =
  | "webhook_disabled"
  | "auth_required"
  | "auth_invalid"
  | "signature_missing"
  | "signature_invalid"
  | "timestamp_out_of_tolerance"
  | "invalid_delivery_id";

export type SignatureRefusal = { readonly code: VerifyCode; readonly detail: string };

export type Verified = {
  /** The sender's id of the delivery: the same for every try. */
  readonly id: string;
  /** The keys that identify the delivery; either one seen before means a replay. */
  readonly keys: readonly string[];
  /** The event's name if a header has it; null if the body does. */
  readonly event: string | null;
};

const TOLERANCE_SECONDS = 5 * 60;
/** The header could hold thousands of signatures; each costs a comparison. */
const MAX_SIGNATURES = 5;
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;
const MIN_GITHUB_SECRET = 16;

export function verifyDelivery(
  source: WebhookSource,
  headers: HeaderReader,
  rawBody: Uint8Array,
  nowMs: number,
): Result<Verified, SignatureRefusal> {
  if (source.kind === "token") return verifyToken(source.isKey, headers);
  if (source.kind === "supabase") return verifySupabase(source.isKey, headers, rawBody);
  const keys = source.secrets.flatMap((secret) => keyOf(source.kind, secret) ?? []);
  if (keys.length === 0) return refuse("webhook_disabled", `The source "${source.name}" has no usable secret.`);
  return source.kind === "standard"
    ? verifyStandard(keys, headers, rawBody, nowMs)
    : verifyGitHub(keys, headers, rawBody);
}

function verifyStandard(
  keys: readonly Buffer[],
  headers: HeaderReader,
  rawBody: Uint8Array,
  nowMs: number,
): Result<Verified, SignatureRefusal> {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signature = headers.get("webhook-signature");
  if (!id || !timestamp || !signature) {
    return refuse("signature_missing", "webhook-id, webhook-timestamp and webhook-signature are needed.");
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(id)) {
    return refuse("signature_invalid", "webhook-id is not up to 256 visible characters.");
  }
  // All digits: "123abc" is not a time, though parseInt finds one in it.
  if (!/^[0-9]{1,12}$/.test(timestamp)) {
    return refuse("timestamp_out_of_tolerance", "webhook-timestamp is not a number of seconds.");
  }
  const given = signature.split(" ", MAX_SIGNATURES + 1);
  if (given.length > MAX_SIGNATURES) return refuse("signature_invalid", `More than ${MAX_SIGNATURES} signatures.`);
  const signed = given.flatMap((one) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one)?.[1] ?? []);
  const mac = (key: Buffer) => createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  const given256 = signed.map((one) => Buffer.from(one, "base64"));
  if (!anyMatches(keys.map(mac), given256)) return refuse("signature_invalid", "No v1 signature fits the body.");
  // After the signature check: a sender without the secret learns nothing about our clock.
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    return refuse("timestamp_out_of_tolerance", `webhook-timestamp is more than ${TOLERANCE_SECONDS} s away from now.`);
  }
  return ok({ id, keys: [id], event: null });
}

/** Only SHA-256 counts; `X-Hub-Signature` (SHA-1) is ignored. */
function verifyGitHub(
  keys: readonly Buffer[],
  headers: HeaderReader,
  rawBody: Uint8Array,
): Result<Verified, SignatureRefusal> {
  const signature = headers.get("x-hub-signature-256");
  if (!signature) return refuse("signature_missing", "X-Hub-Signature-256 is needed.");
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1];
  if (hex === undefined) return refuse("signature_invalid", "X-Hub-Signature-256 is not sha256= and 64 hex digits.");
  const expected = keys.map((key) => createHmac("sha256", key).update(rawBody).digest());
  if (!anyMatches(expected, [Buffer.from(hex, "hex")])) {
    return refuse("signature_invalid", "X-Hub-Signature-256 does not fit the body.");
  }
  const id = headers.get("x-github-delivery");
  if (id === null || !/^[A-Za-z0-9-]{1,100}$/.test(id)) {
    return refuse("invalid_delivery_id", "X-GitHub-Delivery is needed: letters, digits and dashes.");
  }
  // GitHub signs the body only. A recorded body can come back under any id, so the body is remembered too.
  const digest = createHash("sha256").update(rawBody).digest("hex");
  const event = headers.get("x-github-event") ?? "";
  return ok({ id, keys: [id, `body:${digest}`], event: /^[a-z_]{1,64}$/.test(event) ? event : "" });
}

function requireKey(isKey: (token: string) => boolean, headers: HeaderReader): Result<true, SignatureRefusal> {
  const authorization = headers.get("authorization");
  if (authorization === null)
    return refuse("auth_required", "Authorization: Bearer and a key of this source is needed.");
  const token = /^Bearer +([A-Za-z0-9_-]{1,200})$/i.exec(authorization)?.[1];
  return token === undefined || !isKey(token)
    ? refuse("auth_invalid", "The token is no key of this source.")
    : ok(true);
}

/** Its headers are the same for every delivery, so only the body distinguishes a second change from a second try. */
function verifySupabase(
  isKey: (token: string) => boolean,
  headers: HeaderReader,
  rawBody: Uint8Array,
): Result<Verified, SignatureRefusal> {
  const known = requireKey(isKey, headers);
  if (!known.ok) return known;
  const id = `body-${createHash("sha256").update(rawBody).digest("hex")}`;
  return ok({ id, keys: [id], event: null });
}

/** Nothing is signed, so the sender must name each delivery: a repeated name counts once. */
function verifyToken(isKey: (token: string) => boolean, headers: HeaderReader): Result<Verified, SignatureRefusal> {
  const known = requireKey(isKey, headers);
  if (!known.ok) return known;
  const id = headers.get("webhook-id");
  if (id === null || !/^[\x21-\x7e]{1,256}$/.test(id)) {
    return refuse("invalid_delivery_id", "webhook-id is needed: up to 256 visible characters, new for each delivery.");
  }
  return ok({ id, keys: [id], event: null });
}

/** Every pair is compared, so that the time does not reveal which one matched. */
function anyMatches(expected: readonly Buffer[], given: readonly Buffer[]): boolean {
  let found = false;
  for (const mac of expected) {
    for (const one of given) {
      if (one.length === mac.length && timingSafeEqual(one, mac)) found = true;
    }
  }
  return found;
}

function keyOf(kind: WebhookSource["kind"], secret: string): Buffer | null {
  if (kind === "github") return secret.length >= MIN_GITHUB_SECRET ? Buffer.from(secret, "utf8") : null;
  const base64 = /^whsec_([A-Za-z0-9+/]{1,200}={0,2})$/.exec(secret)?.[1];
  if (base64 === undefined) return null;
  const key = Buffer.from(base64, "base64");
  return key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : null;
}

function refuse(code: VerifyCode, detail: string): Result<never, SignatureRefusal> {
  return err({ code, detail });
}
