// Waits for a run by polling instead of listening: a call ends after minutes at most, and polling needs only the one route that every token
// with access to the run may call.

import type { ApiProblem } from "../client/answer.ts";
import type { Caller } from "../client/client.ts";
import { pause } from "../client/reach.ts";
import { ok, type Result } from "../../core/result.ts";
import type { ToolAsked } from "../../runner/desk/tools.ts";
import { until } from "./tool.ts";

export const RUN = "a run's number or id";

const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 2000;

/** Returns the run once no agent works on it, or its state at the timeout. */
export async function waitFor(
  client: Caller,
  run: string,
  timeMs: number,
  { signal, progress }: Pick<ToolAsked, "signal" | "progress">,
): Promise<Result<unknown, ApiProblem>> {
  const start = performance.now();
  const end = start + timeMs;
  for (let looks = 0; ; looks += 1) {
    const shown = await client.call("showRun", { params: { run } }, until(signal));
    if (!shown.ok) return shown;
    const { id, number, status, word, stage, reason, items, resumesAt, paused } = shown.value;
    const reached = status !== "running";
    const left = end - performance.now();
    if (reached || left <= 0 || signal?.aborted === true)
      return ok({ reached, run: { id, number, status, word, stage, reason, resumesAt, paused }, items });
    progress?.(Math.round(performance.now() - start) / 1000, timeMs / 1000, [word, stage].filter(Boolean).join(" · "));
    await pause(Math.min(left, LONGEST_LOOK_MS, FIRST_LOOK_MS * 2 ** looks), signal);
  }
}
