// Which attempts run in a process of their own. Such a process outlives the engine that started it, and the next engine adopts it.

import { z } from "zod";

/** `agents`: those of coding agents; `own`: those of commands, too; `engine`: none. */
export const ATTEMPT_PROCESSES = ["agents", "own", "engine"] as const;
export type AttemptProcess = (typeof ATTEMPT_PROCESSES)[number];

export const attemptsSchema = z.strictObject({ process: z.enum(ATTEMPT_PROCESSES).optional() });
