// Which targets a webhook may have. A name says nothing: what counts is every address that it resolves to, and that the connection goes
// to exactly those. So names are resolved once, here, and the connection gets the addresses that were looked at.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { err, ok, type Result } from "../core/result.ts";

export type HostAddress = { readonly address: string; readonly family: 4 | 6 };
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

export type Permissions = { readonly allowHttp: boolean; readonly allowPrivate: boolean };

/** Ranges of one's own network. Link-local is not among them: cloud machines give away their credentials there. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set(["private", "loopback", "uniqueLocal", "carrierGradeNat"]);
/** Metadata services that lie in a private range. */
const NEVER: ReadonlySet<string> = new Set(["100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"]);
const MAX_URL = 2000;
const MAX_ADDRESSES = 32;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

/** The form of a URL, without asking anyone. Messages do not repeat it: it may be a secret. */
export function checkUrl(text: string, { allowHttp }: Permissions): Result<URL> {
  const url = text.length > MAX_URL ? null : URL.parse(text);
  if (url === null) return refuse("url_invalid", "the URL cannot be read");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refuse("url_invalid", "the URL is not http or https");
  if (url.protocol === "http:" && !allowHttp) return refuse("url_invalid", "the URL is not https");
  if (url.username !== "" || url.password !== "") return refuse("url_invalid", "the URL holds a user or a password");
  return ok(url);
}

/** Where to connect to. All addresses of the host have to be allowed, or none is used. */
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

/** Brackets are of the URL, not of the address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

function isAllowed(text: string, allowPrivate: boolean): boolean {
  // With a zone it is an address of one link.
  if (isIP(text) === 0 || text.includes("%")) return false;
  // An IPv4 address in the clothes of IPv6 is taken for what it is.
  const address = ipaddr.process(text);
  if (NEVER.has(address.toString())) return false;
  const range = address.range();
  if (PRIVATE_RANGES.has(range)) return allowPrivate;
  if (range !== "unicast") return false;
  // Of IPv6 only what is given out: that leaves out what no list names yet, and IPv4 in ::/96.
  return address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parse("2000::"), 3);
}

function refuse(code: string, message: string): Result<never> {
  return err({ code, message });
}
