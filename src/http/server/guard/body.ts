// The third guard: a JSON object of bounded size and depth, read strictly. Duplicate keys are refused, because two programs may each read a
// different one of them.

import type { Refusal } from "../../contract/problem.ts";
import type { JsonObject } from "../../../core/json.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { parseStrictJson } from "../../../core/verdict/json-text.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/** A payload may fill a body of the usual size; this is for the fields around it. */
const AROUND_PAYLOAD_BYTES = 64 * 1024;
const MAX_DEPTH = 32;

/** `isPlain`: scripts such as curl send JSON without its content type; a page could do so in a user's name and must set it. */
export type BodyRules = { readonly isPlain: boolean };

/** Checks that are possible before the body is read. */
export function refuseBody({ headers }: Request, { isPlain }: BodyRules): Refusal | undefined {
  const encoding = headers.get("content-encoding");
  const isNamed = isJson(headers.get("content-type") ?? "") || (isPlain && !isBrowsers(headers));
  if (!isNamed || (encoding !== null && encoding.toLowerCase() !== "identity"))
    return {
      code: "unsupported_media_type",
      detail: "The body must be sent as application/json, not compressed.",
      hint: "Content-Type: application/json",
      headers: { accept: "application/json" },
    };
  const most = mostBytes({ isPlain });
  return Number(headers.get("content-length") ?? 0) > most ? tooLarge(most) : undefined;
}

/** Only a browser sends these headers, and no page can omit them. */
function isBrowsers(headers: Headers): boolean {
  return [...headers.keys()].some((name) => name === "origin" || name.startsWith("sec-fetch-"));
}

function mostBytes({ isPlain }: BodyRules): number {
  return isPlain ? MAX_BODY_BYTES + AROUND_PAYLOAD_BYTES : MAX_BODY_BYTES;
}

function tooLarge(most: number): Refusal {
  return { code: "body_too_large", detail: `A body may have ${most} bytes.` };
}

export async function readBody(request: Request, rules: BodyRules): Promise<Result<JsonObject, Refusal>> {
  const most = mostBytes(rules);
  const bytes = await readBytes(request.body, most);
  if (bytes === undefined) return err(tooLarge(most));
  const text = decode(bytes);
  if (text === undefined) return err({ code: "invalid_json", detail: "The body is not UTF-8." });
  if (text.trim() === "") return err(NO_OBJECT);
  const parsed = parseStrictJson(text, { maxBytes: most, maxDepth: MAX_DEPTH });
  if (!parsed.ok) return err({ code: "invalid_json", detail: parsed.error.message });
  const { value } = parsed;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return err(NO_OBJECT);
  return ok(value as JsonObject);
}

const NO_OBJECT: Refusal = { code: "body_must_be_object", detail: "The body must be one JSON object.", hint: "{ … }" };

/** Undefined if the body exceeds the limit; the rest stays unread. */
async function readBytes(body: ReadableStream<Uint8Array> | null, most: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > most) {
      reader.releaseLock();
      return undefined;
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** `application/json`, with no charset other than JSON's own. */
function isJson(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  return (
    type === "application/json" && parameters.every((each) => each === "charset=utf-8" || each === 'charset="utf-8"')
  );
}
