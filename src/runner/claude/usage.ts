// Counts the usage of one run of Claude Code. Its totals cover the whole session, including resumed parts; `model_usage_since_last_result`
// is this run's part. Measured: a run ended by TERM is in the next run's totals, one ended by KILL is not. So tokens come from this run's
// part, and dollars from the totals, which later include the cost that a killed run could not report.

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
    addMessage(id: string, usage: unknown): void {
      const counts = fields(usage);
      messages.set(id, {
        usd: null,
        ...tokens(counts["input_tokens"], counts["cache_read_input_tokens"], counts["cache_creation_input_tokens"]),
        outputTokens: count(counts["output_tokens"]),
      });
    },
    addResult(result: Fields): void {
      messages.clear();
      const usd = count(result["total_cost_usd"]);
      // Sums in another order differ in the last digit, and must not look smaller than before.
      total = { ...sum(result["modelUsage"]), usd: usd === null ? null : Math.round(usd * 1e9) / 1e9 };
      const since = result["model_usage_since_last_result"];
      if (since !== undefined) part = addUsage(part ?? sum({}), sum(since));
    },
    /** Null without any report. Without a result only a part: dollars are unknown then. */
    ofThisRun(): Usage | null {
      const unfinished = [...messages.values()].reduce<Usage | null>(
        (all, each) => (all ? addUsage(all, each) : each),
        null,
      );
      if (total === null) return unfinished;
      const since = usageSince(total, before);
      const finished = part === null ? since : { ...part, usd: since.usd };
      return unfinished === null ? finished : addUsage(finished, unfinished);
    },
    /** For the next run in this session. */
    totals: (): Usage | null => total ?? before,
  };
}

function sum(models: unknown): Usage {
  const parts = Object.values(fields(models)).map((value): Usage => {
    const model = fields(value);
    return {
      usd: null,
      ...tokens(model["inputTokens"], model["cacheReadInputTokens"], model["cacheCreationInputTokens"]),
      outputTokens: count(model["outputTokens"]),
    };
  });
  return parts.reduce(addUsage, { usd: null, inputTokens: 0, outputTokens: 0, cachedTokens: 0 });
}

/** Anthropic counts cached tokens beside the input; we count them as a part. */
function tokens(fresh: unknown, cached: unknown, written: unknown): Pick<Usage, "inputTokens" | "cachedTokens"> {
  const [input, read] = [count(fresh), count(cached)];
  return {
    inputTokens: input === null ? null : input + (read ?? 0) + (count(written) ?? 0),
    cachedTokens: read,
  };
}
