// A client of the daemon's API for programs: calls routes and follows live events, with every answer checked against the contract.
// Failures are values with a code; nothing is thrown.

import { ROUTES } from "../contract/routes.ts";
import { addressesOf } from "./address.ts";
import { type CallRoute, createCall } from "./call.ts";
import { followEvents, type Followed } from "./events.ts";
import type { FollowOptions } from "./follow.ts";
import type { Fetch } from "./reach.ts";
import { faultOf, problemIn } from "./schema-checks.ts";

export type ClientOptions = {
  /** Where the daemon is: `http://127.0.0.1:4710`. */
  readonly url: string;
  readonly token: string;
  /** Instead of the platform's own. */
  readonly fetch?: Fetch;
  /** For one call including its retries (default 30 seconds). */
  readonly timeoutMs?: number;
  /** How often to repeat a call that got no response and is safe to repeat (default 2). */
  readonly retries?: number;
};

export type Client = {
  readonly call: CallRoute;
  /** Live events from now on or after an earlier message, until the signal or a refusal. Reconnects when the connection breaks. */
  events(options?: FollowOptions): AsyncGenerator<Followed, void, undefined>;
};

/** For callers that only ask. */
export type Caller = Pick<Client, "call">;

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const ADDRESSES = addressesOf(ROUTES);

export function createClient(options: ClientOptions): Client {
  const { url, token, timeoutMs = TIMEOUT_MS, retries = RETRIES } = options;
  const base = url.replace(/\/$/, "");
  const send: Fetch = options.fetch ?? ((target, init) => fetch(target, init));
  return {
    call: createCall({
      base,
      token: () => token,
      send,
      timeoutMs,
      retries,
      addresses: ADDRESSES,
      faultOf,
      problemIn,
    }),
    events: (wanted = {}) => followEvents({ base, token, send }, wanted),
  };
}
