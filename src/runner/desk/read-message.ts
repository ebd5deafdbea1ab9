// The body of a request as JSON: bounded while it arrives, then parsed strictly. Duplicate keys are refused, since two parsers may each
// keep a different one.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../../core/json.ts";
import { parseStrictJson } from "../../core/verdict/json-text.ts";
import type { Reply } from "./reply.ts";
import { PARSE_ERROR, rpcError } from "./rpc-error.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/** A message holds a call, which holds arguments, which hold at most eight levels. */
const MAX_DEPTH = 16;

export type RpcMessage =
  | { readonly type: "message"; readonly value: Json }
  | { readonly type: "refused"; readonly reply: Reply }
  /** The sender has disconnected. */
  | { readonly type: "gone" };

const TOO_LARGE: RpcMessage = { type: "refused", reply: { status: 413, body: { error: "body_too_large" } } };

export async function readMessage(request: IncomingMessage, response: ServerResponse): Promise<RpcMessage> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return TOO_LARGE;
  if (request.headers.expect !== undefined) response.writeContinue();
  const body = await readBody(request);
  if (!Buffer.isBuffer(body)) return body;
  const text = decode(body);
  const parsed =
    text === undefined ? undefined : parseStrictJson(text, { maxBytes: MAX_BODY_BYTES, maxDepth: MAX_DEPTH });
  if (parsed?.ok === true) return { type: "message", value: parsed.value };
  const why = parsed === undefined ? "The body is not UTF-8." : parsed.error.message;
  return { type: "refused", reply: { status: 400, body: rpcError(null, PARSE_ERROR, why) } };
}

function readBody(request: IncomingMessage): Promise<Buffer | RpcMessage> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (result: Buffer | RpcMessage) => {
      request.removeAllListeners("data");
      resolve(result);
    };
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        request.pause();
        return finish(TOO_LARGE);
      }
      chunks.push(chunk);
    });
    request.once("end", () => finish(Buffer.concat(chunks)));
    request.once("close", () => finish({ type: "gone" }));
  });
}

function decode(body: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
