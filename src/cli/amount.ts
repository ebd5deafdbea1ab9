// An amount of dollars or tokens, as people type it.

import { usageError } from "./errors.ts";

/** `hint`: a command with an amount. */
export function readAmount(text: string | undefined, hint: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text.replace(/^\$/u, ""));
  if (!Number.isFinite(value) || value <= 0)
    throw usageError("amount_invalid", `${JSON.stringify(text)} is not an amount.`, hint);
  return value;
}
