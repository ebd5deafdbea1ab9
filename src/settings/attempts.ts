// Which attempts run in a process of their own, and what holds the processes of an attempt together. A process of its own outlives the
// engine that started it, and the next engine adopts it.

import { z } from "zod";
import { ENCLOSURE_CHOICES } from "../core/flow/enclosure.ts";

/** `agents`: those of coding agents; `own`: those of commands, too; `engine`: none. */
export const ATTEMPT_PROCESSES = ["agents", "own", "engine"] as const;
export type AttemptProcess = (typeof ATTEMPT_PROCESSES)[number];

export const attemptsSchema = z.strictObject({
  process: z.enum(ATTEMPT_PROCESSES).optional(),
  enclosure: z.enum(ENCLOSURE_CHOICES).optional(),
  /** Percent of a vendor's limit from which on new attempts of its runner start one at a time. */
  limit_near: z.int().min(1).max(100).optional(),
});
