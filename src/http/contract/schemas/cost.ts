// The usage of attempts. Unknown values are counted beside the sums and never as zero.

import { z } from "zod";
import { SPENDING_KEYS } from "../../../core/budget/budget.ts";

const sums = {
  attempts: z.int(),
  usd: z.number(),
  unknownUsd: z.int(),
  assumedUsd: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  unknownTokens: z.int(),
  assumedTokens: z.number(),
  durationMs: z.number(),
};

const costRowSchema = z.object({ key: z.string().nullable(), ...sums }).meta({ id: "CostRow" });

export const costSchema = z.object({
  by: z.enum(SPENDING_KEYS),
  since: z.string().nullable(),
  run: z.string().nullable(),
  rows: z.array(costRowSchema),
  total: z.object(sums),
});
