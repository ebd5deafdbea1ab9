// Sends the daemon's numbers to an OTLP collector at a steady pace. A collector that is away misses the numbers of that time; nothing is
// kept for it, because the next ones say the same of now.

import type { Metric } from "../core/view/metrics.ts";
import { otlpMetrics } from "../core/view/otlp-metrics.ts";
import { SCHEMA_URL } from "../core/view/trace-spans.ts";
import { createPoll } from "../ticket/poll.ts";
import { postOtlp, senderOf } from "./otlp-post.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";
import type { Telemetry } from "./telemetry.ts";

export type MetricsOptions = {
  readonly settings: TelemetrySettings;
  readonly everyMs: number;
  readonly measure: () => Promise<readonly Metric[]>;
  readonly now: () => string;
  readonly log: (line: string) => void;
};

export function openMetrics({ settings, everyMs, measure, now, log }: MetricsOptions): Telemetry {
  const startedAt = now();
  // Said once per change, not once per minute.
  let state: "taken" | "refused" | "away" = "taken";
  const become = (next: typeof state, line: string): void => {
    if (next !== state && next !== "taken") log(`metrics: ${line}`);
    state = next;
  };
  const poll = createPoll({
    async task() {
      const metrics = otlpMetrics(await measure(), { startedAt, now: now() });
      const { resource, scope } = senderOf(settings);
      const scopeMetrics = [{ scope, schemaUrl: SCHEMA_URL, metrics }];
      const answer = await postOtlp(settings, { resourceMetrics: [{ resource, schemaUrl: SCHEMA_URL, scopeMetrics }] });
      become(answer, "the collector refuses them");
    },
    pauseMs: () => everyMs,
    onError: (error) => become("away", `${error instanceof Error ? error.message : String(error)}; trying again`),
  });
  poll.start(0);
  return { look: () => poll.now(), close: () => poll.stop() };
}
