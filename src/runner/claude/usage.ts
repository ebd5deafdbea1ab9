// Counts the usage of one run of Claude Code. Its totals cover the whole session, including resumed parts; `model_usage_since_last_result`
// is this run's part, with its dollars. Measured: a run ended by TERM is in the next run's totals, one ended by KILL is not. What a run used
// that was cut off is booked from its session file (session-file.ts), so the totals must not bring it a second time.

import { addUsage, type Usage, usageSince } from "../../core/budget/usage.ts";
import { count, type Fields, fields } from "../loose-json.ts";

export type UsageCount = ReturnType<typeof createUsageCount>;

/** `before` is the session's usage at the end of its last run. */
export function createUsageCount(before: Usage | null) {
  let total: Usage | null = null;
  let part: Usage | null = null;
  /** Messages since the last result; each comes in several pieces, with the same numbers. */
  const messages = new Map<string, Usage>();

  return {
    /** Whether it brings numbers that were not counted yet. */
    addMessage(id: string, usage: unknown): boolean {
      const isNew = !messages.has(id);
      const told = messageUsage(usage);
      messages.set(id, told);
      return isNew && told.inputTokens !== null;
    },
    addResult(result: Fields): void {
      messages.clear();
      total = { ...sum(result["modelUsage"]), usd: rounded(count(result["total_cost_usd"])) };
      const since = result["model_usage_since_last_result"];
      if (since !== undefined) part = part === null ? sum(since) : addUsage(part, sum(since));
    },
    /** Null without any report. Without a result only a part: dollars are unknown then. */
    ofThisRun(): Usage | null {
      const unfinished = [...messages.values()].reduce<Usage | null>(
        (all, each) => (all ? addUsage(all, each) : each),
        null,
      );
      if (total === null) return unfinished;
      const since = usageSince(total, before);
      const finished = part === null ? since : { ...part, usd: part.usd ?? since.usd };
      return unfinished === null ? finished : addUsage(finished, unfinished);
    },
    /** For the next run in this session. */
    totals: (): Usage | null => total ?? before,
  };
}

/** The tokens of one answer of the model; its dollars are not told. */
export function messageUsage(usage: unknown): Usage {
  const counts = fields(usage);
  return {
    usd: null,
    ...tokens(counts["input_tokens"], counts["cache_read_input_tokens"], counts["cache_creation_input_tokens"]),
    outputTokens: count(counts["output_tokens"]),
  };
}

function sum(models: unknown): Usage {
  const parts = Object.values(fields(models)).map((value): Usage => {
    const model = fields(value);
    return {
      usd: count(model["costUSD"]),
      ...tokens(model["inputTokens"], model["cacheReadInputTokens"], model["cacheCreationInputTokens"]),
      outputTokens: count(model["outputTokens"]),
    };
  });
  const whole = parts.reduce(addUsage, { usd: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 });
  return { ...whole, usd: parts.some(({ usd }) => usd === null) ? null : rounded(whole.usd) };
}

/** Sums in another order differ in the last digit, and must not look smaller than before. */
function rounded(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e9) / 1e9;
}

/** Anthropic counts cached tokens beside the input; we count them as a part. */
function tokens(fresh: unknown, cached: unknown, written: unknown): Pick<Usage, "inputTokens" | "cachedTokens"> {
  const [input, read] = [count(fresh), count(cached)];
  return {
    inputTokens: input === null ? null : input + (read ?? 0) + (count(written) ?? 0),
    cachedTokens: read,
  };
}
