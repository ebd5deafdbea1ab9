// OpenTelemetry's own variables, as far as traces and metrics over HTTP need them. Off unless an endpoint is named.

import { err, ok, type Result } from "../core/result.ts";
import type { Environment } from "../settings/site.ts";

export type TelemetrySettings = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
};

const TIMEOUT_MS = 10_000;

export type TelemetrySignal = "traces" | "metrics";

const EVERY_MS = 60_000;
const SHORTEST_MS = 1000;

/** How often metrics are sent. */
export function metricsEveryMs(environment: Environment): number {
  return Math.max(SHORTEST_MS, Number(environment["OTEL_METRIC_EXPORT_INTERVAL"]) || EVERY_MS);
}

/** Null: off. */
export function readTelemetry(
  environment: Environment,
  version: string,
  signal: TelemetrySignal = "traces",
): Result<TelemetrySettings | null> {
  const of = (name: string): string => environment[name]?.trim() ?? "";
  const upper = signal.toUpperCase();
  const own = of(`OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`);
  const base = of("OTEL_EXPORTER_OTLP_ENDPOINT");
  const isOff = of("OTEL_SDK_DISABLED").toLowerCase() === "true" || of(`OTEL_${upper}_EXPORTER`) === "none";
  if (isOff || (own === "" && base === "")) return ok(null);
  const url = own === "" ? `${base.replace(/\/+$/u, "")}/v1/${signal}` : own;
  const protocol = of(`OTEL_EXPORTER_OTLP_${upper}_PROTOCOL`) || of("OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol === "grpc") return wrong(signal, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: Passrail sends http/json only");
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol))
    return wrong(signal, "the endpoint is no http address");
  const timeoutMs = Number(of(`OTEL_EXPORTER_OTLP_${upper}_TIMEOUT`) || of("OTEL_EXPORTER_OTLP_TIMEOUT")) || TIMEOUT_MS;
  const headers = { ...pairs(of("OTEL_EXPORTER_OTLP_HEADERS")), ...pairs(of(`OTEL_EXPORTER_OTLP_${upper}_HEADERS`)) };
  const resource = {
    ...pairs(of("OTEL_RESOURCE_ATTRIBUTES")),
    "service.version": version,
    "service.name": of("OTEL_SERVICE_NAME") || "passrail",
  };
  return ok({ url, headers, timeoutMs, resource });
}

function wrong(signal: TelemetrySignal, why: string): Result<never> {
  const hint = "docs/daemon.md#traces-and-metrics-for-opentelemetry";
  return err({ code: "telemetry_invalid", message: `OpenTelemetry: ${signal} are off: ${why}.`, hint });
}

/** `a=b,c=d`, percent-encoded. */
function pairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      if (at <= 0) return [];
      const value = pair.slice(at + 1).trim();
      return [[pair.slice(0, at).trim(), decoded(value)]];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
