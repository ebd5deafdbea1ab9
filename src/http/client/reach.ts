// Reaching the daemon: the headers of a call, the problem when nothing answers, and the pause before a retry.

import type { ApiProblem } from "./answer.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export function unreachable(base: string, cause: unknown): ApiProblem {
  return {
    code: "daemon_unreachable",
    detail: `No answer at ${base}: ${reasonOf(cause)}.`,
    hint: "Start the daemon with: passrail up",
    status: 0,
  };
}

/** Node puts the reason (ECONNREFUSED) into the cause; a browser gives none. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown reason";
  const { code } = (cause.cause ?? cause) as { readonly code?: unknown };
  return typeof code === "string" ? code : cause.message;
}

/** Ends early with the signal; never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted === true) done();
    else signal?.addEventListener("abort", done);
  });
}
