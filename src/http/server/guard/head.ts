// The first guard, from the head of a request alone: is it meant for this daemon, and may its origin send it. It runs before any URL is
// built, because a Host header can be anything.

import type { IncomingMessage } from "node:http";
import type { Refusal } from "../../contract/problem.ts";

export type Head = {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Every value of a header, one entry per line in which it was sent. */
  readonly values: (name: string) => readonly string[];
};

export type HeadRules = {
  readonly port: number;
  /** Further hosts of this daemon, as `name:port`; requests to them need a token like all others. */
  readonly hosts?: readonly string[];
  /** Names and addresses at which it is reached with its own port. */
  readonly names?: readonly string[];
  /** Whether this listener speaks TLS itself. */
  readonly isSecure?: boolean;
};

const MAX_TARGET = 8 * 1024;

export function refuseHead(head: Head, rules: HeadRules): Refusal | undefined {
  return refuseHost(head, rules) ?? refuseOrigin(head, rules) ?? refuseTarget(head);
}

function refuseHost(head: Head, rules: HeadRules): Refusal | undefined {
  const [host, ...others] = head.values("host");
  if (host !== undefined && others.length === 0 && hostsOf(rules).includes(host.toLowerCase())) return undefined;
  return {
    code: "host_not_allowed",
    detail: "The Host header must name this server, exactly once.",
    hint: `Use http://127.0.0.1:${rules.port}`,
  };
}

/** Programs send neither header; a browser always sends at least one of them for a request of a foreign page. */
function refuseOrigin(head: Head, rules: HeadRules): Refusal | undefined {
  const origins = head.values("origin");
  const allowed = originsOf(rules);
  const sites = head.values("sec-fetch-site");
  const isPageLoad = head.method === "GET" || head.method === "HEAD";
  const isOrigin = origins.every((origin) => allowed.has(origin)) && origins.length <= 1;
  const isSite = sites.every((site) => site === "same-origin" || (site === "none" && isPageLoad));
  if (isOrigin && isSite) return undefined;
  return {
    code: "origin_not_allowed",
    detail: "A browser may call this server only from its own pages.",
    hint: `Open http://127.0.0.1:${rules.port} itself`,
  };
}

function refuseTarget({ target, values }: Head): Refusal | undefined {
  if (target.length > MAX_TARGET) return { code: "uri_too_long", detail: `A URL may have ${MAX_TARGET} characters.` };
  if (values("upgrade").length > 0)
    return { code: "upgrade_refused", detail: "Upgrades, WebSocket too, are not offered." };
  const query = target.indexOf("?");
  const path = query === -1 ? target : target.slice(0, query);
  if (path.startsWith("/") && !path.includes("\\") && isDecodable(path)) return undefined;
  return { code: "bad_request_path", detail: "The path must begin with a slash and be valid percent-encoded UTF-8." };
}

function isDecodable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes("\0");
  } catch {
    return false;
  }
}

function hostsOf(rules: HeadRules): readonly string[] {
  return [...ownHosts(rules), ...(rules.hosts ?? [])];
}

/** Browsers leave out the usual port of TLS. */
function ownHosts({ port, names = [] }: HeadRules): readonly string[] {
  const all = ["127.0.0.1", "localhost", "[::1]", ...names];
  return [...all.map((name) => `${name}:${port}`), ...(port === 443 ? all : [])];
}

/** A further host may be the name of a proxy that speaks TLS for this listener. */
function originsOf(rules: HeadRules): ReadonlySet<string> {
  const secure = (hosts: readonly string[]): readonly string[] => hosts.map((host) => `https://${host}`);
  if (rules.isSecure === true) return new Set(secure(hostsOf(rules)));
  return new Set([...hostsOf(rules).map((host) => `http://${host}`), ...secure(rules.hosts ?? [])]);
}

export function headOfIncoming({ method = "", url = "", headersDistinct }: IncomingMessage): Head {
  return { method, target: url, values: (name) => headersDistinct[name] ?? [] };
}

export function headOfRequest(request: Request): Head {
  const values = (name: string) => {
    const value = request.headers.get(name);
    return value === null ? [] : [value];
  };
  const start = request.url.indexOf("/", request.url.indexOf("://") + 3);
  return { method: request.method, target: start === -1 ? "/" : request.url.slice(start), values };
}
