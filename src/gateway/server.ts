// The listener of a gateway. It decides who may ask and for what, before anything leaves the machine: the attempt's token, a route, a path
// that is a request to a model, room in the budget. Requests for other hosts go to the rules of egress.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { isModelRequest } from "./model-request.ts";
import { createEgress, type Egress } from "./egress.ts";
import { createForward } from "./forward.ts";
import type { Gateway, GatewayOptions, ModelAnswers } from "./gateway.ts";

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_SOCKETS = 256;

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const token = `pr_gw_${randomBytes(32).toString("base64url")}`;
  let self = "";
  const rules = options.egress;
  const egress = rules === null ? null : createEgress({ ...rules, own: () => [self, ...rules.own()] });
  const forward = options.answers ?? createForward(options);
  const isOwn = tokenCheck(token);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
  server.maxConnections = MAX_SOCKETS;
  // A model may think for a long time; the attempt's own limits end it.
  server.requestTimeout = 0;
  server.on("request", (request, response) => {
    request.on("error", () => {});
    response.on("error", () => {});
    answer(request, response, { options, forward, egress, isOwn });
  });
  server.on("connect", (request, socket, head) => {
    socket.on("error", () => {});
    tunnel(request, socket, head, { options, egress, isOwn });
  });
  server.on("upgrade", (_request, socket) => socket.destroy());
  // The server itself forgets a connection that became a tunnel.
  const open = new Set<Duplex>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const port = await listening(server);
  self = `127.0.0.1:${port}`;
  const proxy = `http://passrail:${token}@127.0.0.1:${port}`;
  return {
    address: { url: `http://127.0.0.1:${port}`, token },
    proxyVariables: egress === null ? {} : proxied(proxy),
    async close() {
      forward.close();
      egress?.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** The desk and the gateway itself are asked directly. */
function proxied(proxy: string): Record<string, string> {
  const names = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "127.0.0.1" };
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
}

type Parts = {
  readonly options: GatewayOptions;
  readonly forward: ModelAnswers;
  readonly egress: Egress | null;
  readonly isOwn: (presented: string | undefined) => boolean;
};

function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): void {
  const { options, forward, egress, isOwn } = parts;
  const target = request.url ?? "/";
  // A client that uses a proxy for plain HTTP sends the whole address.
  if (!target.startsWith("/")) {
    if (!isOwn(proxyToken(request))) return refuse(request, response, 407, "the gateway does not know this token");
    if (egress === null) return refuse(request, response, 403, "this gateway reaches no other hosts");
    return egress.pass(request, response, (what, why) => options.onNews({ type: "refused", what, why }));
  }
  if (!isOwn(modelToken(request))) return refuse(request, response, 401, "the gateway does not know this token");
  const [, name = ""] = target.split(/[/?]/u, 2);
  const route = options.routes.find((each) => each.name === name);
  const rest = target.slice(name.length + 1);
  const path = rest.split("?", 1)[0] ?? "";
  if (route === undefined || !isModelRequest(request.method ?? "", path)) {
    // Programs ask their vendors for much besides; what a model is not asked for is not worth a key.
    if (path !== "" && path !== "/")
      options.onNews({ type: "refused", what: `${request.method} ${path}`, why: NO_MODEL });
    return refuse(request, response, 403, NO_MODEL);
  }
  const over = options.admit();
  if (over !== undefined) return refuse(request, response, 403, over);
  forward.send(request, response, route, rest);
}

const NO_MODEL = "it is no request to a model";

function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, parts: Omit<Parts, "forward">): void {
  const { options, egress, isOwn } = parts;
  const say = (line: string, text: string): void =>
    void socket.end(
      `HTTP/1.1 ${line}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  if (!isOwn(proxyToken(request))) return say("407 Proxy Authentication Required", "");
  if (egress === null) return say("403 Forbidden", "");
  egress.tunnel(request.url ?? "", socket, head, (what, why) => {
    options.onNews({ type: "refused", what, why });
    say("403 Forbidden", `Passrail's gateway refuses ${what}: ${why}.\n`);
  });
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number, why: string): void {
  request.resume();
  const message = `Passrail's gateway refuses this request: ${why}.`;
  const headers = { "content-type": "application/json", connection: "close" };
  const proxy = status === 407 ? { "proxy-authenticate": "Basic" } : {};
  const error = { type: "permission_error", code: status, status: "PERMISSION_DENIED", message };
  response.writeHead(status, { ...headers, ...proxy }).end(JSON.stringify({ type: "error", error }));
}

function tokenCheck(token: string): (presented: string | undefined) => boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  const own = hash(token);
  return (presented) => presented !== undefined && timingSafeEqual(hash(presented), own);
}

/** Where each vendor's clients put their key. */
function modelToken({ headers, url }: IncomingMessage): string | undefined {
  const said = headers["x-api-key"] ?? headers["x-goog-api-key"];
  if (typeof said === "string") return said;
  const bearer = /^Bearer (\S+)$/iu.exec(headers.authorization ?? "")?.[1];
  return bearer ?? new URLSearchParams((url ?? "").split("?", 2)[1]).get("key") ?? undefined;
}

function proxyToken({ headers }: IncomingMessage): string | undefined {
  const said = /^Basic ([A-Za-z0-9+/=]+)$/iu.exec(headers["proxy-authorization"] ?? "")?.[1];
  if (said === undefined) return undefined;
  const text = Buffer.from(said, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.unref();
      resolve((server.address() as AddressInfo).port);
    });
  });
}
