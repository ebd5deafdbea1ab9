// Runners that are over a limit of their vendor.

import { z } from "zod";
import { time } from "./common.ts";

const holdSchema = z
  .object({
    runner: z.string().meta({ description: "the program; no attempt starts on it" }),
    account: z.string().meta({ description: "the login that pays, as Passrail tells them apart" }),
    cause: z.string().meta({ description: "rate_limit (throttle), quota or billing" }),
    reason: z.string().meta({ description: "what the program said" }),
    text: z.string().meta({ description: "for people: claude is over its quota" }),
    since: time,
    until: time.nullable().meta({ description: "null: until a person lifts it" }),
    run: z.string().nullable().meta({ description: "the run that found it out" }),
    by: z.string(),
    waiting: z.int().meta({ description: "runs with an attempt that waits for it" }),
  })
  .meta({ id: "Hold" });

export const holdListSchema = z.object({ holds: z.array(holdSchema) });

export const liftHoldSchema = z.strictObject({
  runner: z.string().min(1).max(60),
  account: z.string().max(100).optional().meta({ description: "default: every login of the runner" }),
});

export const liftedHoldSchema = z.object({ released: z.int().meta({ description: "runs that may start now" }) });
