// The address at which browsers and workers on other machines reach the daemon: behind a proxy or a tunnel, or by a listener of its own.

import ipaddr from "ipaddr.js";

/** The origin; undefined for what is no such address. Plain HTTP only on this machine: a login would be readable on the way. */
export function readPublicUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isBare =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
  return isBare && isSafe ? url.origin : undefined;
}

function isLoopback(name: string): boolean {
  const bare = name.replace(/^\[|\]$/gu, "");
  return bare === "localhost" || (ipaddr.isValid(bare) && ipaddr.parse(bare).range() === "loopback");
}
