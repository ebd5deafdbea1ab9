// Decides from the head of a request who may use the desk: only a program on this machine with a place's token. Pages in a browser are
// refused (any Origin), also after DNS rebinding to loopback (Host is checked first).

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.ts";
import type { Tools } from "./tools.ts";

export type DeskAddress = { readonly tokenHash: Buffer; readonly tools: Tools; running: number };

const PATH = /^\/mcp\/([0-9a-f]{32})$/;
const BEARER = /^Bearer +([A-Za-z0-9_-]{1,200})$/i;
const NO_HASH = Buffer.alloc(32);

export function refuseForeign(request: IncomingMessage, port: number): Reply | undefined {
  const host = only(request, "host")?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return { status: 403, body: { error: "host_not_allowed" } };
  }
  const { headersDistinct: given } = request;
  if (given["origin"] !== undefined || given["sec-fetch-site"] !== undefined) {
    return { status: 403, body: { error: "origin_not_allowed" } };
  }
  return undefined;
}

/** The place of the path, if the token is its own. An unknown place and a wrong token look alike to the client. */
export function findPlace(
  request: IncomingMessage,
  places: ReadonlyMap<string, DeskAddress>,
): { readonly place: DeskAddress } | { readonly refusal: Reply } {
  const id = PATH.exec(request.url ?? "")?.[1];
  if (id === undefined) return { refusal: { status: 404, body: { error: "not_found" } } };
  const place = places.get(id);
  const token = BEARER.exec(only(request, "authorization") ?? "")?.[1] ?? "";
  const isRight = timingSafeEqual(createHash("sha256").update(token).digest(), place?.tokenHash ?? NO_HASH);
  if (place !== undefined && isRight) return { place };
  return {
    refusal: {
      status: 401,
      headers: { "www-authenticate": 'Bearer realm="passrail"' },
      body: { error: "unauthorized" },
    },
  };
}

export function refuseForm(request: IncomingMessage): Reply | undefined {
  if (request.method !== "POST") {
    return { status: 405, headers: { allow: "POST" }, body: { error: "method_not_allowed" } };
  }
  if (request.headers["content-encoding"] !== undefined || !isJson(only(request, "content-type") ?? "")) {
    return { status: 415, headers: { accept: "application/json" }, body: { error: "unsupported_media_type" } };
  }
  return undefined;
}

/** `application/json`, optionally with JSON's only charset. */
function isJson(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  return (
    type === "application/json" && parameters.every((each) => each === "charset=utf-8" || each === 'charset="utf-8"')
  );
}

/** The value of a header that was sent exactly once. */
function only(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}
