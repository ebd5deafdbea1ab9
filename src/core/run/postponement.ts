// Failures not caused by the work: the vendor is over its limit, down or unreachable, or the program crashed. They cost no loop: the stage
// waits and retries. When its retries are used up, the failure counts like any other.

const OUTAGES: ReadonlySet<string> = new Set([
  "rate_limit",
  "quota",
  "server_error",
  "unreachable",
  "sandbox_failed",
  "landing_held",
  "repository_busy",
]);
const CRASHES: ReadonlySet<string> = new Set(["startup_timeout", "agent_crashed"]);

/** How often in a row a stage was postponed, by cause. */
export type Postponed = { readonly outages: number; readonly crashes: number };

const RETRIES: Postponed = { outages: 5, crashes: 2 };
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** A quota without a known end: it lasts longer than an outage, and asking costs nothing. */
const FIRST_QUOTA_WAIT_MS = 15 * 60_000;
const LONGEST_QUOTA_WAIT_MS = 60 * 60_000;
/** A week's limit and a day; a longer time is not believed. */
const LONGEST_LIMIT_MS = 8 * 24 * 60 * 60_000;

export type Postponement = {
  readonly until: string;
  /** The number of this retry, out of the maximum in a row. */
  readonly retry: number;
  readonly of: number;
  readonly times: Postponed;
};

/** When the stage may start again, or undefined when the cause is another one or its retries are used up. */
export function postponement(
  cause: string | undefined,
  before: Postponed | undefined,
  at: string,
  resetsAt: string | undefined,
): Postponement | undefined {
  const kind = kindOf(cause);
  if (kind === undefined) return undefined;
  const times = before ?? { outages: 0, crashes: 0 };
  if (times[kind] >= RETRIES[kind]) return undefined;
  const retry = times[kind] + 1;
  const [first, longest] =
    cause === "quota" && resetsAt === undefined
      ? [FIRST_QUOTA_WAIT_MS, LONGEST_QUOTA_WAIT_MS]
      : [FIRST_WAIT_MS, LONGEST_WAIT_MS];
  const wait = limitMs(at, resetsAt) ?? Math.min(first * 2 ** (retry - 1), longest);
  return {
    until: new Date(Date.parse(at) + wait).toISOString(),
    retry,
    of: RETRIES[kind],
    times: { ...times, [kind]: retry },
  };
}

/** An account's limits apply to every stage with the same runner. */
export function isAccountLimit(cause: string | undefined): boolean {
  return cause === "rate_limit" || cause === "quota" || cause === "billing";
}

/** How long a limit lasts from now, if the reported time is in the future. */
export function limitMs(at: string, resetsAt: string | undefined): number | undefined {
  const wait = resetsAt === undefined ? Number.NaN : Date.parse(resetsAt) - Date.parse(at);
  return wait > 0 ? Math.min(wait, LONGEST_LIMIT_MS) : undefined;
}

const NEVER_BEGAN: ReadonlySet<string> = new Set([
  "agent_not_found",
  "agent_not_configured",
  "spawn_failed",
  "auth",
  "billing",
]);

/** No model was called, so the reservation is released. */
export function hasNeverBegun(cause: string | undefined): boolean {
  return cause !== undefined && NEVER_BEGAN.has(cause);
}

/** `rate_limit` -> `rate limit`. */
export function causeText(cause: string): string {
  return cause.replaceAll("_", " ");
}

function kindOf(cause: string | undefined): keyof Postponed | undefined {
  if (cause === undefined) return undefined;
  return OUTAGES.has(cause) ? "outages" : CRASHES.has(cause) ? "crashes" : undefined;
}
