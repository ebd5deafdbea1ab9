// Other hosts by list: names, never addresses. A name is resolved once, here; its addresses must be public unless the user's own settings
// name it as private, and the connection goes to exactly the address that was checked.

import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type HostAddress, resolveBySystem, vetTarget } from "../notify/address.ts";
import { hostsOf, isListed } from "./hosts.ts";
import type { EgressRules } from "./gateway.ts";

export type Refuse = (what: string, why: string) => void;

export type Egress = {
  /** `CONNECT name:port`. */
  tunnel(target: string, socket: Duplex, head: Buffer, refuse: Refuse): void;
  /** A plain request with a whole address. */
  pass(request: IncomingMessage, response: ServerResponse, refuse: Refuse): void;
  close(): void;
};

const CONNECT_MS = 30_000;

export function createEgress(rules: EgressRules): Egress {
  const [hosts, own] = [hostsOf(rules.hosts), hostsOf(rules.private)];
  const open = new Set<Socket>();

  /** The address to connect to, or why not. */
  async function vet(host: string, port: number): Promise<HostAddress | string> {
    if (rules.own().includes(`${host}:${port}`)) return { address: host, family: 4 };
    const isOwn = isListed(own, host, port);
    if (isIP(host.replace(/^\[|\]$/gu, "")) !== 0) return "only names are allowed, no addresses";
    if (!isOwn && !isListed(hosts, host, port)) return "it is not in gateway.egress";
    const permissions = { allowHttp: true, allowPrivate: isOwn };
    const vetted = await vetTarget(new URL(`http://${host}:${port}`), permissions, resolveBySystem);
    return vetted.ok ? vetted.value[0] : vetted.error.message;
  }

  function reach({ address }: HostAddress, port: number): Socket {
    const socket = connect({ host: address, port, timeout: CONNECT_MS });
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.once("connect", () => socket.setTimeout(0));
    socket.once("timeout", () => socket.destroy(new Error("no connection in time")));
    return socket;
  }

  return {
    tunnel(target, socket, head, refuse) {
      const [, host = "", port = ""] = /^([^:\s]{1,253}|\[[^\]\s]{1,60}\]):(\d{1,5})$/u.exec(target) ?? [];
      if (host === "") return refuse(target.slice(0, 200), "it is no name with a port");
      const begin = async (): Promise<void> => {
        const found = await vet(host.toLowerCase(), Number(port));
        if (typeof found === "string") return refuse(`${host}:${port}`, found);
        const outgoing = reach(found, Number(port));
        outgoing.once("connect", () => {
          socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
          outgoing.write(head);
          outgoing.pipe(socket).pipe(outgoing);
        });
        outgoing.on("error", () => void socket.destroy());
        socket.once("close", () => outgoing.destroy());
      };
      begin().catch(() => socket.destroy());
    },
    pass(request, response, refuse) {
      const url = URL.parse(request.url ?? "");
      const name = url?.host ?? String(request.url).slice(0, 200);
      const deny = (why: string): void => {
        refuse(name, why);
        request.resume();
        response.writeHead(403, { "content-type": "text/plain", connection: "close" });
        response.end(`Passrail's gateway refuses ${name}: ${why}.\n`);
      };
      if (url === null || url.protocol !== "http:") return deny("it is no address of a host");
      const port = Number(url.port || 80);
      const begin = async (): Promise<void> => {
        const found = await vet(url.hostname, port);
        if (typeof found === "string") return deny(found);
        const { "proxy-authorization": _token, "proxy-connection": _kept, ...headers } = request.headers;
        const outgoing = httpRequest({
          method: request.method ?? "GET",
          path: `${url.pathname}${url.search}`,
          headers: { ...headers, host: url.host, connection: "close" },
          createConnection: () => reach(found, port),
        });
        outgoing.once("response", (incoming) => {
          response.writeHead(incoming.statusCode ?? 502, incoming.headers);
          incoming.pipe(response);
        });
        outgoing.once("error", () => void response.destroy());
        response.once("close", () => outgoing.destroy());
        request.pipe(outgoing);
      };
      begin().catch(() => response.destroy());
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}
