// Calls the daemon's API as the contract in src/api describes it. For the command line, for MCP and for the dashboard in a browser: it
// knows nothing of Node. What goes wrong is a value with a code; nothing is thrown.

import type { ApiRoute } from "../contract/route.ts";
import { ROUTES } from "../contract/routes.ts";
import { err, type Result } from "../../core/result.ts";
import { type ApiProblem, readAnswer } from "./answer.ts";
import { followEvents, type Followed, type FollowOptions } from "./events.ts";
import { type AnswerTo, type InputTo, type JsonRouteName, type LooseInput, targetOf } from "./input.ts";
import { type Fetch, pause, unreachable } from "./reach.ts";

export type ClientOptions = {
  /** Where the daemon is: `http://127.0.0.1:4710`. */
  readonly url: string;
  readonly token: string;
  /** Instead of the platform's own. */
  readonly fetch?: Fetch;
  /** For one call, with everything that it is repeated. */
  readonly timeoutMs?: number;
  /** How often a call is repeated that reached nobody; only what can be repeated without harm. */
  readonly retries?: number;
};

export type CallOptions = {
  /** The version that was looked at. */
  readonly ifMatch?: string;
  /** The caller's own name for its wish; one is made where none is given. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

/** The input may be left out where the route needs none. */
type Rest<I> =
  Readonly<Record<string, never>> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

export type Client = {
  call<N extends JsonRouteName>(name: N, ...rest: Rest<InputTo<N>>): Promise<Result<AnswerTo<N>, ApiProblem>>;
  /** What happens, from now on or after an earlier message, until the signal or a refusal. Comes back by itself when it is cut off. */
  events(options?: FollowOptions): AsyncGenerator<Followed, void, undefined>;
};

/** For those who only ask. */
export type Caller = Pick<Client, "call">;

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const RETRY_MS = 150;

export function createClient(options: ClientOptions): Client {
  const { url, token, timeoutMs = TIMEOUT_MS, retries = RETRIES } = options;
  const base = url.replace(/\/$/, "");
  // Called as a bare function: a browser's fetch refuses to be the method of something else.
  const send: Fetch = options.fetch ?? ((target, init) => fetch(target, init));

  async function call(name: JsonRouteName, input: LooseInput = {}, asked: CallOptions = {}) {
    const route: ApiRoute = ROUTES[name];
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = asked.signal === undefined ? timeout : AbortSignal.any([asked.signal, timeout]);
    const request: RequestInit = { ...requestTo(route, input, asked, token), signal };
    const target = `${base}${targetOf(route, input)}`;
    const tries = mayRepeat(route) ? retries : 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await readAnswer(await send(target, request), route.answer);
      } catch (cause) {
        if (asked.signal?.aborted === true) return err(ABORTED);
        if (timeout.aborted) return err(tooSlow(base, timeoutMs));
        if (attempt >= tries) return err(unreachable(base, cause));
        await pause(RETRY_MS * 2 ** attempt, signal);
      }
    }
  }

  return {
    call: call as Client["call"],
    events: (wanted = {}) => followEvents({ base, token, send }, wanted),
  };
}

function requestTo({ method, headers = [], body }: ApiRoute, input: LooseInput, asked: CallOptions, token: string) {
  return {
    method: method.toUpperCase(),
    // A token goes to whom it was meant for and nowhere else.
    redirect: "manual" as const,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(headers.includes("Idempotency-Key")
        ? { "idempotency-key": asked.idempotencyKey ?? crypto.randomUUID() }
        : {}),
      ...(asked.ifMatch === undefined ? {} : { "if-match": asked.ifMatch === "*" ? "*" : `"${asked.ifMatch}"` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(input.body ?? {}) }),
  };
}

/** What only looks, and what carries a key by which the daemon knows it again. */
function mayRepeat({ method, headers = [] }: ApiRoute): boolean {
  return method === "get" || headers.includes("Idempotency-Key");
}

const ABORTED: ApiProblem = { code: "call_aborted", detail: "The call was given up.", status: 0 };

function tooSlow(base: string, ms: number): ApiProblem {
  return { code: "daemon_timeout", detail: `${base} did not answer within ${ms} ms.`, status: 0 };
}
