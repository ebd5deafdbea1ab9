import { expect, test } from "vitest";
import { metricsEveryMs, readTelemetry } from "./telemetry-settings.ts";

test("traces are off without an endpoint, and where a variable says so; other protocols are refused", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };
  expect(readTelemetry({}, "1")).toEqual({ ok: true, value: null });
  expect(readTelemetry({ ...endpoint, OTEL_SDK_DISABLED: "true" }, "1")).toEqual({ ok: true, value: null });
  expect(readTelemetry({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, "1")).toEqual({ ok: true, value: null });
  expect(readTelemetry({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "1")).toMatchObject({ ok: false });
  expect(readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://x" }, "1")).toMatchObject({ ok: false });
  expect(readTelemetry({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, "1", "metrics")).toMatchObject({
    value: { url: "http://localhost:4318/v1/metrics" },
  });
  expect(readTelemetry({ ...endpoint, OTEL_METRICS_EXPORTER: "none" }, "1", "metrics")).toMatchObject({ value: null });
  const own = { ...endpoint, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://numbers:1/x" };
  expect(readTelemetry(own, "1", "metrics")).toMatchObject({ value: { url: "http://numbers:1/x" } });
  expect(metricsEveryMs({ OTEL_METRIC_EXPORT_INTERVAL: "5000" })).toBe(5000);
  expect(metricsEveryMs({ OTEL_METRIC_EXPORT_INTERVAL: "soon" })).toBe(60_000);
  const read = readTelemetry(
    {
      ...endpoint,
      OTEL_SERVICE_NAME: "night",
      OTEL_RESOURCE_ATTRIBUTES: "team=a%20b,broken,deployment.environment=prod",
    },
    "1.2",
  );
  expect(read).toMatchObject({
    value: {
      url: "http://localhost:4318/v1/traces",
      resource: { "service.name": "night", "service.version": "1.2", team: "a b", "deployment.environment": "prod" },
    },
  });
});
