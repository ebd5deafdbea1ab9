// Takes one delivery from its bytes to its intent: size, secret, signature, form, replay, meaning, in this order. The server carries the
// intent out and then reports through the claim whether the delivery counts as taken.

import type { JsonObject } from "../../core/json.ts";
import { parseStrictJson } from "../../core/verdict/json-text.ts";
import { type Intent, mapDelivery } from "./mapping.ts";
import type { Claim, Replays } from "./replay.ts";
import type { WebhookSource } from "./source.ts";
import { type HeaderReader, type Verified, type VerifyCode, verifyDelivery } from "./verify.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_DEPTH = 32;

export type RawDelivery = {
  readonly source: WebhookSource;
  readonly headers: HeaderReader;
  readonly rawBody: Uint8Array;
};

type Ignored = Extract<Intent, { type: "ignored" }>;
type ErrorCode = VerifyCode | "body_too_large" | "invalid_json" | "body_must_be_object" | "invalid_payload";

export type Received =
  /** Carry it out with `signalId` as the id of the signal to the engine, then call `keep`, or `release` if that failed. */
  | {
      readonly status: 202;
      readonly code: "accepted";
      readonly intent: Exclude<Intent, Ignored>;
      readonly signalId: string;
      readonly claim: Extract<Claim, { type: "new" }>;
    }
  | { readonly status: 202; readonly code: "ignored_event"; readonly intent: Ignored }
  | { readonly status: 200; readonly code: "duplicate"; readonly intent: Ignored }
  | {
      readonly status: 400 | 401 | 413 | 429 | 503;
      readonly code: ErrorCode | "too_many_deliveries";
      readonly intent: Ignored;
      readonly detail: string;
      readonly pointer?: string;
    };

export type Refused = Extract<Received, { readonly detail: string }>;

const STATUS: Readonly<Record<ErrorCode, 400 | 401 | 413 | 503>> = {
  webhook_disabled: 503,
  auth_required: 401,
  auth_invalid: 401,
  body_too_large: 413,
  signature_missing: 401,
  signature_invalid: 401,
  timestamp_out_of_tolerance: 401,
  invalid_delivery_id: 400,
  invalid_json: 400,
  body_must_be_object: 400,
  invalid_payload: 400,
};

export async function receive(
  { source, headers, rawBody }: RawDelivery,
  deps: { readonly replays: Replays; readonly now: () => number },
): Promise<Received> {
  if (rawBody.byteLength > MAX_BODY_BYTES) {
    return refuse("body_too_large", `The body may have ${MAX_BODY_BYTES} bytes.`);
  }
  const verified = verifyDelivery(source, headers, rawBody, deps.now());
  if (!verified.ok) return refuse(verified.error.code, verified.error.detail);
  const { id, keys } = verified.value;
  const read = readPayload(rawBody);
  if ("refused" in read) return read.refused;
  const claim = await deps.replays.claim(source.name, keys);
  if (claim.type === "seen") return { status: 200, code: "duplicate", intent: ignored("taken before") };
  if (claim.type === "full") {
    const detail = "More deliveries came within a day than can be remembered. Try again later.";
    return { status: 429, code: "too_many_deliveries", intent: ignored("too many"), detail };
  }
  const mapped = isActorAllowed(source, read.payload)
    ? mapDelivery(source, eventOf(source, verified.value, read.payload), read.payload)
    : ({ ok: true, value: ignored("the actor is not on the source's list") } as const);
  // A sender that corrects its payload may use the id again.
  if (!mapped.ok) {
    claim.release();
    return refuse("invalid_payload", mapped.error.message, mapped.error.pointer);
  }
  const intent = mapped.value;
  if (intent.type === "ignored") {
    // Nothing to protect from a replay, so it takes no room in the memory.
    claim.release();
    return { status: 202, code: "ignored_event", intent };
  }
  return { status: 202, code: "accepted", intent, signalId: `webhook:${source.name}:${id}`, claim };
}

type ReadBody = { readonly body: Uint8Array } | { readonly refused: Refused };

/** The raw bytes of a request. Stops at the limit, whatever length the sender announced, and does not read the rest. */
export async function readRawBody(request: {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly headers: HeaderReader;
}): Promise<ReadBody> {
  const tooLarge = { refused: refuse("body_too_large", `The body may have ${MAX_BODY_BYTES} bytes.`) };
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return tooLarge;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return tooLarge;
    chunks.push(chunk);
  }
  return { body: Buffer.concat(chunks) };
}

/** Standard Webhooks name the event in the body, GitHub in a header with its action in the body, Supabase by table and kind of change. */
function eventOf({ kind }: WebhookSource, verified: Verified, payload: JsonObject): string {
  if (kind === "supabase") {
    const { table, type } = payload;
    return typeof table === "string" && typeof type === "string" ? `${table}.${type.toLowerCase()}` : "";
  }
  if (verified.event === null) return typeof payload["type"] === "string" ? payload["type"] : "";
  const action = payload["action"];
  return typeof action === "string" ? `${verified.event}.${action}` : verified.event;
}

function isActorAllowed(source: WebhookSource, payload: JsonObject): boolean {
  if (source.kind !== "github" || source.actors === null) return true;
  const sender = payload["sender"];
  const login = sender !== null && typeof sender === "object" && "login" in sender ? sender.login : undefined;
  return typeof login === "string" && source.actors.some((actor) => actor.toLowerCase() === login.toLowerCase());
}

function readPayload(rawBody: Uint8Array): { readonly payload: JsonObject } | { readonly refused: Refused } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch {
    return { refused: refuse("invalid_json", "The body is not UTF-8.") };
  }
  const parsed = parseStrictJson(text, { maxBytes: MAX_BODY_BYTES, maxDepth: MAX_DEPTH });
  if (!parsed.ok) return { refused: refuse("invalid_json", parsed.error.message) };
  const { value } = parsed;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return { refused: refuse("body_must_be_object", "The body is not a JSON object.") };
  }
  return { payload: value as JsonObject };
}

function refuse(code: ErrorCode, detail: string, pointer?: string): Refused {
  const at = pointer === undefined ? {} : { pointer };
  return { status: STATUS[code], code, intent: ignored(code), detail, ...at };
}

function ignored(reason: string): Ignored {
  return { type: "ignored", reason };
}
