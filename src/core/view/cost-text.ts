// The expected cost of a run in words. Apart from the briefing, because pages show it and must not load the flow's schema.

/** `$1.20`, `unknown`, or both. */
export function costText(usd: number | null, unknown: number): string {
  if (usd === null) return unknown === 0 ? "none" : "unknown";
  return unknown === 0 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(2)} and ${unknown} stages unknown`;
}
