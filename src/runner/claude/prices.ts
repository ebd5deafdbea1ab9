// What an answer of a Claude model costs: list prices in dollars for a million tokens, as Claude Code 2.1.325 itself reckons them. Only for
// attempts that still work, or were cut off; at its end the program tells the dollars. A model that is not here costs an unknown amount.

import { count, fields } from "../loose-json.ts";

type Price = { readonly input: number; readonly output: number; readonly cached: number };

const PRICES: Readonly<Record<string, Price>> = {
  "claude-opus-5-5": { input: 4, output: 20, cached: 0.2 },
  "claude-opus-5": { input: 5, output: 25, cached: 0.5 },
  "claude-opus-4-7": { input: 5, output: 25, cached: 0.5 },
  "claude-opus-4-6": { input: 5, output: 25, cached: 0.5 },
  "claude-opus-4-5": { input: 5, output: 25, cached: 0.5 },
  "claude-sonnet-5-5": { input: 2, output: 10, cached: 0.1 },
  "claude-sonnet-5": { input: 2, output: 10, cached: 0.2 },
  "claude-sonnet-4-6": { input: 3, output: 15, cached: 0.3 },
  "claude-sonnet-4-5": { input: 3, output: 15, cached: 0.3 },
  "claude-haiku-4-5": { input: 1, output: 5, cached: 0.1 },
};

/** Keeping tokens in the cache for five minutes, or for an hour, costs more than sending them. */
const WRITTEN = { short: 1.25, long: 2 };
const MILLION = 1_000_000;

/** `usage` as the vendor reports it with one answer; null where the price or the tokens are unknown. */
export function costOf(model: string | null, usage: unknown): number | null {
  const price = PRICES[(model ?? "").replace(/-20\d{6}$/u, "")];
  const counts = fields(usage);
  const [input, output] = [count(counts["input_tokens"]), count(counts["output_tokens"])];
  if (price === undefined || input === null || output === null) return null;
  const written = count(counts["cache_creation_input_tokens"]) ?? 0;
  const long = Math.min(written, count(fields(counts["cache_creation"])["ephemeral_1h_input_tokens"]) ?? 0);
  const sent = input + (written - long) * WRITTEN.short + long * WRITTEN.long;
  const cached = count(counts["cache_read_input_tokens"]) ?? 0;
  return (sent * price.input + cached * price.cached + output * price.output) / MILLION;
}
