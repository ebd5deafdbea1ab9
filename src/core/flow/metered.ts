// The amount an attempt reserves before its agent's usual cost is known.

import type { RunnerName } from "./agent-options.ts";
import type { RunnerChoice } from "./runner-choice.ts";
import type { Metered } from "../budget/budget.ts";

/** Dollars only for runners that report them afterwards. */
const RESERVED_USD: Readonly<Partial<Record<RunnerName, number>>> = { claude: 1, opencode: 1 };
const RESERVED_TOKENS = 1_000_000;

/** Null for a stage that costs nothing: a command, or an agent that works outside. */
export function meteredBy(play: RunnerChoice | undefined): Metered | null {
  if (play === undefined || play.runner === "command" || play.runner === "outside") return null;
  const usd = RESERVED_USD[play.runner] ?? 0;
  return {
    runner: play.runner,
    model: play.options.model ?? null,
    reserveUsd: usd === 0 ? 0 : (play.options.maxCostUsd ?? usd),
    reserveTokens: RESERVED_TOKENS,
  };
}
