// Calls one route: builds the request, repeats it where that is safe, and returns the answer or a problem. Command line, MCP and dashboard
// all call through this function. It uses neither Node nor schemas and never throws.

import { err, type Result } from "../../core/result.ts";
import type { RouteAddress } from "./address.ts";
import { type ApiProblem, readAnswer, type ReadProblem } from "./answer.ts";
import { type AnswerTo, type InputTo, type JsonRouteName, type LooseInput, targetOf } from "./input.ts";
import { type Fetch, pause, unreachable } from "./reach.ts";

export type CallOptions = {
  /** The version that the caller saw. */
  readonly ifMatch?: string;
  /** The caller's own key for this request; otherwise the client makes one. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** The request outlives the page that sends it. */
  readonly keepalive?: boolean;
};

/** The input may be left out where the route needs none. */
type Rest<I> =
  Readonly<Record<string, never>> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

export type CallRoute = <N extends JsonRouteName>(
  name: N,
  ...rest: Rest<InputTo<N>>
) => Promise<Result<AnswerTo<N>, ApiProblem>>;

export type CallSetup = {
  /** Where the daemon is, without a slash at the end; empty for the origin of the page. */
  readonly base: string;
  readonly token: () => string;
  readonly send: Fetch;
  /** For one call including its retries. */
  readonly timeoutMs: number;
  /** How often to repeat a call that got no response. */
  readonly retries: number;
  readonly addresses: Readonly<Record<JsonRouteName, RouteAddress>>;
  /** Describes the fault of an answer; undefined if it has none. */
  readonly faultOf: (name: JsonRouteName, body: unknown) => string | undefined;
  readonly problemIn: ReadProblem;
};

const RETRY_MS = 150;

export function createCall(setup: CallSetup): CallRoute {
  const { base, send, timeoutMs, addresses, faultOf, problemIn } = setup;

  async function call(name: JsonRouteName, input: LooseInput = {}, asked: CallOptions = {}) {
    const address = addresses[name];
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = asked.signal === undefined ? timeout : AbortSignal.any([asked.signal, timeout]);
    const request: RequestInit = { ...requestTo(address, input, asked, setup.token()), signal };
    const target = `${base}${targetOf(address, input)}`;
    const tries = mayRepeat(address) ? setup.retries : 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await readAnswer(await send(target, request), (body) => faultOf(name, body), problemIn);
      } catch (cause) {
        if (asked.signal?.aborted === true) return err(ABORTED);
        if (timeout.aborted) return err(tooSlow(base, timeoutMs));
        if (attempt >= tries) return err(unreachable(base, cause));
        await pause(RETRY_MS * 2 ** attempt, signal);
      }
    }
  }

  return call as CallRoute;
}

function requestTo({ method, headers, hasBody }: RouteAddress, input: LooseInput, asked: CallOptions, token: string) {
  return {
    method: method.toUpperCase(),
    // The token belongs to this daemon: a redirect must not carry it elsewhere.
    redirect: "manual" as const,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${token}`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...(headers.includes("Idempotency-Key")
        ? { "idempotency-key": asked.idempotencyKey ?? crypto.randomUUID() }
        : {}),
      ...(asked.ifMatch === undefined ? {} : { "if-match": asked.ifMatch === "*" ? "*" : `"${asked.ifMatch}"` }),
    },
    ...(hasBody ? { body: JSON.stringify(input.body ?? {}) } : {}),
    ...(asked.keepalive === true ? { keepalive: true } : {}),
  };
}

/** Reading is safe to repeat, and so is a request with a key by which the daemon recognises it. */
function mayRepeat({ method, headers }: RouteAddress): boolean {
  return method === "get" || headers.includes("Idempotency-Key");
}

const ABORTED: ApiProblem = { code: "call_aborted", detail: "The call was given up.", status: 0 };

function tooSlow(base: string, ms: number): ApiProblem {
  return {
    code: "daemon_timeout",
    detail: `${base === "" ? "The daemon" : base} did not answer within ${ms} ms.`,
    status: 0,
  };
}
