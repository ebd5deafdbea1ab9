// Durations in settings. A timer beyond 24 days would overflow and fire at once, again and again.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";

const LONGEST = "24d";
const SHAPE = /^[1-9][0-9]{0,5}(ms|s|m|h|d)$/u;

export const settingsDuration = z
  .string()
  .regex(SHAPE, { message: `a duration such as 500ms, 30s, 30m, 2h, 1d; at most ${LONGEST}`, abort: true })
  .refine((text) => durationMs(text) <= durationMs(LONGEST), { message: `the longest duration is ${LONGEST}` });
