// What one run of Claude Code used. Its totals go over the whole session, also over a resumed one; `model_usage_since_last_result` is
// this run's part. Measured: a run that is ended by TERM is in the next run's totals, one that is ended by KILL is not. So tokens are
// taken from this run's part, and dollars from the totals, in which what a killed run could not tell is paid for later.

import { addUsage, type Usage, usageSince } from "../../core/budget/usage.ts";
import { count, type Fields, fields } from "../loose-json.ts";

export type UsageCount = ReturnType<typeof createUsageCount>;

/** `before` is what had been counted for the session when it was last left. */
export function createUsageCount(before: Usage | null) {
  let total: Usage | null = null;
  let part: Usage | null = null;
  /** Messages since the last result; each comes in several pieces, with the same numbers. */
  const messages = new Map<string, Usage>();

  return {
    addMessage(id: string, usage: unknown): void {
      const told = fields(usage);
      messages.set(id, {
        usd: null,
        ...tokens(told["input_tokens"], told["cache_read_input_tokens"], told["cache_creation_input_tokens"]),
        outputTokens: count(told["output_tokens"]),
      });
    },
    addResult(result: Fields): void {
      messages.clear();
      const usd = count(result["total_cost_usd"]);
      // Sums that were made in another order differ in the last digit, and must not look smaller than before.
      total = { ...sum(result["modelUsage"]), usd: usd === null ? null : Math.round(usd * 1e9) / 1e9 };
      const since = result["model_usage_since_last_result"];
      if (since !== undefined) part = addUsage(part ?? sum({}), sum(since));
    },
    /** Null when nothing was told. Without a result only a part: dollars are not known then. */
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

/** Anthropic counts what came from the cache beside the input; we count it as a part. */
function tokens(fresh: unknown, cached: unknown, written: unknown): Pick<Usage, "inputTokens" | "cachedTokens"> {
  const [input, read] = [count(fresh), count(cached)];
  return {
    inputTokens: input === null ? null : input + (read ?? 0) + (count(written) ?? 0),
    cachedTokens: read,
  };
}
