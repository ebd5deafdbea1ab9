// One call of Daytona's HTTP API, asked again while it is overloaded. Every call has a timeout.

import { setTimeout as delay } from "node:timers/promises";
import { err, messageOf, ok, type Result } from "../../../core/result.ts";

export type DaytonaAccess = { readonly url: string; readonly key: string };

export type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

type Call = (address: string, init?: Init, ms?: number) => Promise<Result<Response>>;

/** `again`: the least time in ms after which it may be asked again; null if it must not. */
type Answer = { readonly result: Result<Response>; readonly again: number | null };

const CALL_MS = 60_000;
/** How long a call goes on trying while Daytona says that it is overloaded. */
const TRY_MS = 90_000;
const WAIT_AT_MOST_MS = 20_000;

export function createCall({ url, key }: DaytonaAccess): Call {
  const callOnce = async (address: string, init: Init, ms: number): Promise<Answer> => {
    const headers = { Authorization: `Bearer ${key}`, "X-Daytona-Source": "passrail", ...init.headers };
    try {
      const response = await fetch(address, { ...init, headers, redirect: "error", signal: AbortSignal.timeout(ms) });
      if (response.ok) return { result: ok(response), again: null };
      const said = (await response.text().catch(() => "")).slice(0, 300);
      const { status } = response;
      const problem = { code: `daytona_${status}`, message: `Daytona answered ${status}: ${said}`, ...hint(status) };
      // It says that it has not done what was asked.
      const again = status === 429 || status === 503 ? Number(response.headers.get("retry-after") ?? 0) * 1000 : null;
      return { result: err(problem), again };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      const what = messageOf(error);
      const message = `Daytona could not be reached at ${url} (${what}${cause}).`;
      // Whether it arrived is not known, so it is not repeated.
      return { result: err({ code: "daytona_unreachable", message }), again: null };
    }
  };
  return async (address: string, init: Init = {}, ms = CALL_MS): Promise<Result<Response>> => {
    const deadline = performance.now() + TRY_MS;
    for (let waitMs = 500; ; waitMs = Math.min(waitMs * 2, WAIT_AT_MOST_MS)) {
      const { result, again } = await callOnce(address, init, ms);
      if (again === null || Number.isNaN(again)) return result;
      const pauseMs = Math.min(Math.max(waitMs, again), WAIT_AT_MOST_MS);
      if (performance.now() + pauseMs > deadline) return result;
      await delay(pauseMs);
    }
  };
}

function hint(status: number): { hint?: string } {
  return status === 401 || status === 403 ? { hint: "Check the key: DAYTONA_API_KEY" } : {};
}
