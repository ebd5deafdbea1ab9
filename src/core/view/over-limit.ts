// The obstacle of a runner, in words: once for pages, commands and events.

import type { Hold } from "../run/hold.ts";
import { LIMIT_NEAR } from "../run/limit-use.ts";
import { causeText } from "../run/postponement.ts";

const WORDS: Readonly<Record<string, string>> = {
  rate_limit: "was asked to slow down",
  quota: "is over its quota",
  billing: "has no credit",
  auth: "is not logged in",
  agent_not_found: "is not installed",
  spawn_failed: "does not start",
};

/** `claude is over its quota`. */
export function overLimit(runner: string, cause: string): string {
  const words = Object.hasOwn(WORDS, cause) ? WORDS[cause] : undefined;
  return words === undefined ? `${runner}: ${causeText(cause)}` : `${runner} ${words}`;
}

/** The same of a stored hold: `claude: 92 % of its five hour window, new starts one at a time`. */
export function holdText({ runner, cause, reason }: Pick<Hold, "runner" | "cause" | "reason">): string {
  return cause === LIMIT_NEAR ? `${runner}: ${reason}, new starts one at a time` : overLimit(runner, cause);
}
