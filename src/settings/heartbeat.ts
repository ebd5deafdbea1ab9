// How often the engine looks after its runs, and when a run without a sign of life counts as stalled.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import { DURATION_PATTERN } from "../core/flow/flow-file.ts";

const duration = z.string().regex(DURATION_PATTERN);

export const heartbeatSchema = z.strictObject({ tick: duration.optional(), stalled_after: duration.optional() });

export type HeartbeatSettings = { readonly tickMs: number; readonly stalledAfterMs: number };

export function heartbeatSettings(files: readonly (z.infer<typeof heartbeatSchema> | undefined)[]): HeartbeatSettings {
  const first = (key: "tick" | "stalled_after") =>
    files.map((file) => file?.[key]).find((value) => value !== undefined);
  return {
    tickMs: durationMs(first("tick") ?? "60s"),
    stalledAfterMs: durationMs(first("stalled_after") ?? "30m"),
  };
}
