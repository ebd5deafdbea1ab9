// The usage of an attempt: money and tokens as its vendor reported them. An unreported number is null, meaning unknown; it is never 0.

export type Usage = {
  /** US dollars, where the vendor reports them. */
  readonly usd: number | null;
  /** Tokens sent, cached ones included. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** The part of the input that came from the vendor's cache. */
  readonly cachedTokens: number | null;
};

export const UNKNOWN_USAGE: Usage = { usd: null, inputTokens: null, outputTokens: null, cachedTokens: null };

const KEYS = ["usd", "inputTokens", "outputTokens", "cachedTokens"] as const;

/** Known parts add up; a part that neither knows stays unknown. */
export function addUsage(one: Usage, other: Usage): Usage {
  return combine((key) => {
    const [a, b] = [one[key], other[key]];
    return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
  });
}

/** The usage on top of `before`, for vendors that count over a whole session. Never negative: a smaller total is a new count. */
export function usageSince(total: Usage, before: Usage | null): Usage {
  if (before === null) return total;
  return combine((key) => {
    const [now, then] = [total[key], before[key]];
    if (now === null || then === null) return now;
    return now >= then ? now - then : now;
  });
}

/** The larger number of each kind: two reports of the same work, of which each may have seen less. */
export function largerUsage(one: Usage, other: Usage): Usage {
  return combine((key) => {
    const [a, b] = [one[key], other[key]];
    return a === null || b === null ? (a ?? b) : Math.max(a, b);
  });
}

export function tokensOf(usage: Usage): number | null {
  return usage.inputTokens === null && usage.outputTokens === null
    ? null
    : (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
}

function combine(value: (key: (typeof KEYS)[number]) => number | null): Usage {
  return {
    usd: value("usd"),
    inputTokens: value("inputTokens"),
    outputTokens: value("outputTokens"),
    cachedTokens: value("cachedTokens"),
  };
}
