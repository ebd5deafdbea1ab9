// Sends one request on to its vendor, and the answer back byte by byte. A copy of the answer is read when it is whole: what it used is
// counted before the client sees its end, so the next request finds it in the books.

import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { ModelRoute } from "../runner/model-routes.ts";
import type { GatewayNews, GatewayOptions, ModelAnswers } from "./gateway.ts";
import { limitFailure, limitUses } from "./limits.ts";
import { type ModelApi, modelApi } from "./model-request.ts";
import { readUsage } from "./read-usage.ts";
import type { NewExchange } from "./tape.ts";

/** Of an answer; a longer one is passed on whole, and its end is read. */
const MAX_COPY_BYTES = 32 * 1024 * 1024;

/** Of one connection only, or added by the gateway itself. */
const DROPPED: ReadonlySet<string> = new Set(
  [
    "host connection keep-alive proxy-authorization proxy-connection te trailer upgrade transfer-encoding expect",
    "authorization x-api-key x-goog-api-key accept-encoding cookie",
  ].flatMap((names) => names.split(" ")),
);

export function createForward(options: Pick<GatewayOptions, "proxyEnv" | "onNews" | "record">): ModelAnswers {
  const { proxyEnv, onNews, record } = options;
  const kept = { keepAlive: true, proxyEnv };
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  return {
    send(request, response, route, rest) {
      const url = new URL(`${route.upstream}${withoutKey(rest)}`);
      const isSafe = url.protocol === "https:";
      const outgoing = (isSafe ? httpsRequest : httpRequest)(url, {
        method: request.method ?? "POST",
        headers: headersFor(request, route),
        agent: isSafe ? agents.https : agents.http,
      });
      const { model } = modelIn(rest);
      const asked = record === null ? null : copyOf(request);
      const since = Date.now();
      outgoing.once("response", (incoming) =>
        passBack(incoming, response, (status, headers, body) => {
          const answer = { status, headers, body, model };
          if (asked !== null) record?.(exchangeOf({ request, route, rest, since, asked: asked() }, answer));
          for (const each of newsOf(modelApi(pathOf(rest)), answer)) onNews(each);
        }),
      );
      outgoing.once("error", (error) => fail(response, error));
      // A client that gives up must not let the vendor write on.
      response.once("close", () => void (response.writableFinished || outgoing.destroy()));
      request.pipe(outgoing);
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** What the request has brought so far. */
export function copyOf(request: IncomingMessage): () => Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_COPY_BYTES) parts.push(chunk);
  });
  return () => Buffer.concat(parts);
}

type Asked = {
  readonly request: IncomingMessage;
  readonly route: ModelRoute;
  readonly rest: string;
  readonly since: number;
  readonly asked: Buffer;
};

function exchangeOf({ request, route, rest, since, asked }: Asked, { status, headers, body }: Answer): NewExchange {
  const kept = Object.entries(headers).filter(([name]) =>
    /^content-type$|^retry-after$|ratelimit|^x-codex-/u.test(name),
  );
  return {
    at: new Date(since).toISOString(),
    ms: Date.now() - since,
    route: route.name,
    method: request.method ?? "POST",
    path: withoutKey(rest),
    status,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    request: decoded(asked, request.headers["content-encoding"]),
    response: body.toString("utf8"),
  };
}

/** Some programs compress what they send. */
export function decoded(bytes: Buffer, encoding: string | undefined): string {
  const limit = { maxOutputLength: 4 * MAX_COPY_BYTES };
  try {
    if (encoding === "zstd") return zstdDecompressSync(bytes, limit).toString("utf8");
    if (encoding === "gzip") return gunzipSync(bytes, limit).toString("utf8");
    if (encoding === "br") return brotliDecompressSync(bytes, limit).toString("utf8");
  } catch {
    return "";
  }
  return bytes.toString("utf8");
}

type Answer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** The model that the path names. */
  readonly model: string | null;
};

function newsOf(api: ModelApi | undefined, { status, headers, body, model }: Answer): readonly GatewayNews[] {
  const nowMs = Date.now();
  const uses = limitUses(headers, nowMs);
  const failure = status === 429 ? limitFailure(headers, body.toString("utf8"), nowMs) : undefined;
  const read = api === undefined ? undefined : readUsage(api, body.toString("utf8"));
  return [
    ...(api === undefined
      ? []
      : [{ type: "answered", status, model: read?.model ?? model, usage: read?.usage ?? null } as const]),
    ...(uses.length === 0 ? [] : [{ type: "limits", uses } as const]),
    ...(failure === undefined ? [] : [{ type: "limited", failure } as const]),
  ];
}

function passBack(
  incoming: IncomingMessage,
  response: ServerResponse,
  onWhole: (status: number, headers: IncomingMessage["headers"], body: Buffer) => void,
): void {
  const status = incoming.statusCode ?? 502;
  const headers = Object.entries(incoming.headers).filter(([name]) => !HOP.has(name));
  response.writeHead(status, Object.fromEntries(headers));
  response.flushHeaders();
  const copy: Buffer[] = [];
  let size = 0;
  let isTold = false;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    onWhole(status, incoming.headers, Buffer.concat(copy));
  };
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    copy.push(chunk);
    while (size > MAX_COPY_BYTES && copy.length > 1) size -= copy.shift()?.length ?? 0;
    if (!response.write(chunk)) {
      incoming.pause();
      response.once("drain", () => incoming.resume());
    }
  });
  incoming.once("end", () => {
    tell();
    response.end();
  });
  // Cut off on the way: the client must see that, too. What came until then was used.
  incoming.once("close", () => {
    tell();
    if (!response.writableEnded) response.destroy();
  });
  incoming.on("error", () => {});
}

const HOP: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "set-cookie"]);

function headersFor(request: IncomingMessage, { headers }: ModelRoute): Record<string, string | string[]> {
  const theirs = Object.entries(request.headers).filter(([name]) => !DROPPED.has(name));
  const own = Object.fromEntries(theirs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  // Answers are read on the way, so the vendor must not compress them.
  return { ...own, ...headers, "accept-encoding": "identity" };
}

/** Google's clients may put their key into the address. */
export function withoutKey(rest: string): string {
  const [path = "", query] = rest.split("?", 2);
  if (query === undefined) return path;
  const kept = query.split("&").filter((part) => !/^key=/iu.test(part));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

function pathOf(rest: string): string {
  return rest.split("?", 1)[0] ?? "";
}

function modelIn(rest: string): { readonly model: string | null } {
  return { model: /\/models\/([^/:?]+):/u.exec(rest)?.[1] ?? null };
}

function fail(response: ServerResponse, error: Error): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const message = `Passrail's gateway cannot reach the vendor: ${error.message.slice(0, 300)}`;
  const body = { type: "error", error: { type: "api_error", code: 502, message } };
  response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify(body));
}
