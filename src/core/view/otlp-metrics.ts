// The daemon's numbers in the JSON form of OTLP. A number that only grows is a cumulative sum since the daemon's start, every other one a
// gauge.
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto

import type { Metric } from "./metrics.ts";
import type { OtlpAttribute } from "./trace-spans.ts";

type OtlpPoint = {
  readonly attributes: readonly OtlpAttribute[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asDouble: number;
};

export type OtlpMetric = { readonly name: string; readonly description: string; readonly unit: string } & (
  | { readonly gauge: { readonly dataPoints: readonly OtlpPoint[] } }
  | {
      readonly sum: {
        readonly dataPoints: readonly OtlpPoint[];
        /** Cumulative. */
        readonly aggregationTemporality: 2;
        readonly isMonotonic: true;
      };
    }
);

/** Units of UCUM by how a name ends. */
const UNITS: readonly (readonly [string, string])[] = [
  ["_seconds", "s"],
  ["_bytes", "By"],
  ["_usd", "{USD}"],
  ["_tokens", "{token}"],
];

export function otlpMetrics(
  metrics: readonly Metric[],
  { startedAt, now }: { readonly startedAt: string; readonly now: string },
): readonly OtlpMetric[] {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }): OtlpMetric => {
      const isSum = name.endsWith("_total");
      const points = samples.map(({ value, labels = {} }) => ({
        attributes: Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } })),
        ...(isSum ? { startTimeUnixNano: nanos(startedAt) } : {}),
        timeUnixNano: nanos(now),
        asDouble: value,
      }));
      const unit = UNITS.find(([end]) => name.endsWith(end))?.[1] ?? "1";
      const about = { name: `passrail.${name.replace(/_total$/u, "")}`, description: help, unit };
      return isSum
        ? { ...about, sum: { dataPoints: points, aggregationTemporality: 2, isMonotonic: true } }
        : { ...about, gauge: { dataPoints: points } };
    });
}

function nanos(at: string): string {
  return `${Date.parse(at)}000000`;
}
