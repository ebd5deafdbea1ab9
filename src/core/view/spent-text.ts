// The cost of a run, in words: attempts whose program reported no cost are counted, never taken as free.

import { amountText } from "../budget/budget.ts";
import type { Run } from "../run/run.ts";

/** `$1.25 (2 attempts did not say) · 12,300 tokens`; more in `passrail cost`. */
export function spentText({ usd, unknownUsd, attempts, tokens, unknownTokens }: NonNullable<Run["spent"]>): string {
  const silent = (count: number): string => `${count} attempt${count === 1 ? "" : "s"} did not say`;
  const money = unknownUsd === attempts ? "cost unknown" : amountText("usd", usd);
  const words = unknownTokens === attempts ? "tokens unknown" : amountText("tokens", tokens);
  return [
    `${money}${unknownUsd === 0 || unknownUsd === attempts ? "" : ` (${silent(unknownUsd)})`}`,
    `${words}${unknownTokens === 0 || unknownTokens === attempts ? "" : ` (${silent(unknownTokens)})`}`,
  ].join(" · ");
}
