// The allowed targets of a webhook. Every address that a host name resolves to counts. Names are resolved once, here, and the connection
// uses exactly the checked addresses.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { err, ok, type Result } from "../core/result.ts";

export type HostAddress = { readonly address: string; readonly family: 4 | 6 };
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

export type Permissions = { readonly allowHttp: boolean; readonly allowPrivate: boolean };

/** Ranges of a private network. Link-local is not among them: cloud machines expose their credentials there. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set(["private", "loopback", "uniqueLocal", "carrierGradeNat"]);
/** Metadata services in a private range. */
const NEVER: ReadonlySet<string> = new Set(["100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"]);
const MAX_URL = 2000;
const MAX_ADDRESSES = 32;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

/** Checks the form of a URL, without a lookup. Messages do not repeat it: it may be a secret. */
export function checkUrl(text: string, { allowHttp }: Permissions): Result<URL> {
  const url = text.length > MAX_URL ? null : URL.parse(text);
  if (url === null) return refuse("url_invalid", "the URL cannot be read");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refuse("url_invalid", "the URL is not http or https");
  if (url.protocol === "http:" && !allowHttp) return refuse("url_invalid", "the URL is not https");
  if (url.username !== "" || url.password !== "") return refuse("url_invalid", "the URL holds a user or a password");
  return ok(url);
}

/** The addresses to connect to. If one address of the host is not allowed, none is used. */
export async function vetTarget(
  url: URL,
  permissions: Permissions,
  resolve: Resolve,
): Promise<Result<readonly [HostAddress, ...HostAddress[]]>> {
  const host = hostOf(url);
  const literal = isIP(host);
  let found: readonly HostAddress[];
  try {
    found = literal === 0 ? await resolve(host) : [{ address: host, family: literal === 6 ? 6 : 4 }];
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return refuse("host_not_found", `the host cannot be resolved (${reason})`);
  }
  const [first, ...others] = found.slice(0, MAX_ADDRESSES);
  if (first === undefined) return refuse("host_not_found", "the host has no address");
  if (!found.every(({ address }) => isAllowed(address, permissions.allowPrivate))) {
    return refuse("address_not_allowed", "the host has an address that is not of the public Internet");
  }
  return ok([first, ...others]);
}

/** Removes the brackets, which belong to the URL and not to the address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

function isAllowed(text: string, allowPrivate: boolean): boolean {
  // An address with a zone is local to one link.
  if (isIP(text) === 0 || text.includes("%")) return false;
  // An IPv4 address mapped into IPv6 counts as IPv4.
  const address = ipaddr.process(text);
  if (NEVER.has(address.toString())) return false;
  const range = address.range();
  if (PRIVATE_RANGES.has(range)) return allowPrivate;
  if (range !== "unicast") return false;
  // IPv6: only the allocated range. That excludes ranges that no list names yet, and IPv4 in ::/96.
  return address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parse("2000::"), 3);
}

function refuse(code: string, message: string): Result<never> {
  return err({ code, message });
}
