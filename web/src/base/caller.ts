// The shared client, set up for this page: same origin, no schemas, addresses from the build.

import addresses from "virtual:passrail-addresses";
import { type CallRoute, createCall } from "../../../src/http/client/call.ts";
import { problemIn } from "./problem.ts";

const TIMEOUT_MS = 120_000;

export function callWith(token: () => string): CallRoute {
  return createCall({
    base: "",
    token,
    // Called as a bare function: a browser's fetch refuses to be the method of another object.
    send: (url, init) => fetch(url, init),
    timeoutMs: TIMEOUT_MS,
    // Queries have their own retries.
    retries: 0,
    addresses,
    // The daemon that answers is the one that served this page, so the page trusts the form of its answers.
    faultOf: () => undefined,
    problemIn,
  });
}
