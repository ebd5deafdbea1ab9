// Traces and metrics of the real engine at a collector of this test, which checks the published JSON form: ids, times, parents, names.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { rmSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { measureState } from "../../../src/app/measure-state.ts";
import { openMetrics } from "../../../src/daemon/send-metrics.ts";
import type { Settings } from "../../../src/settings/settings.ts";
import { openTelemetry, type Telemetry } from "../../../src/daemon/telemetry.ts";
import { readTelemetry } from "../../../src/daemon/telemetry-settings.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`, "u"));
const nanos = z.string().regex(/^[0-9]{16,20}$/u);
const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.string().regex(/^-?[0-9]+$/u) }),
    z.strictObject({ doubleValue: z.number() }),
  ]),
});
const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string().min(1),
  kind: z.literal(1),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes: z.array(attribute),
  status: z.strictObject({ code: z.union([z.literal(0), z.literal(2)]), message: z.string().optional() }),
});
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      schemaUrl: z.url(),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          schemaUrl: z.url(),
          spans: z.array(span),
        }),
      ),
    }),
  ),
});

let scripted: Scripted;
let server: Server;
let telemetry: Telemetry | undefined;
afterEach(async () => {
  await telemetry?.close();
  server.close();
  await scripted.close();
  rmSync(scripted.home, { recursive: true, force: true });
});

test("a run is a trace with stages and attempts; a collector that was away gets it later, once, also after a restart", async () => {
  const got: z.infer<typeof span>[] = [];
  const log: string[] = [];
  let answer = 503;
  let authorization: string | undefined;
  server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
    incoming.on("end", () => {
      ({ authorization } = incoming.headers);
      if (answer === 200)
        for (const { scopeSpans } of request.parse(JSON.parse(text)).resourceSpans)
          got.push(...scopeSpans.flatMap(({ spans }) => spans));
      response.writeHead(answer).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scripted = await openScripted({
    metered: () => ({ runner: "claude", model: "opus", reserveUsd: 2, reserveTokens: 9 }),
    agent: () => ({
      structured: true,
      verdict: "pass",
      usage: { runner: "claude", model: "opus", usage: { usd: 0.5, inputTokens: 7, outputTokens: 3, cachedTokens: 0 } },
    }),
  });
  const { port } = server.address() as AddressInfo;
  const settings = readTelemetry(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x",
    },
    "1.2.3",
  );
  if (!settings.ok || settings.value === null) throw new Error("traces are off");
  const open = async (): Promise<void> => {
    await telemetry?.close();
    telemetry = await openTelemetry({
      ...(settings.value ?? expect.fail()),
      home: scripted.home,
      store: scripted.store,
      log: (line) => log.push(line),
    });
  };
  await open();
  await scripted.start(
    "a",
    flowOf([
      { id: "plan", agent: "planner" },
      { id: "build", agent: "builder" },
    ]),
  );
  await scripted.until("a", "is completed", ({ status }) => status === "completed");
  await telemetry?.look();
  await telemetry?.look();
  expect(log).toEqual([expect.stringContaining("answered 503")]);
  answer = 200;
  await open();
  await telemetry?.look();
  expect(authorization).toBe("Bearer x");
  const named = (name: string) => got.find((each) => each.name === name);
  expect(got.map(({ name }) => name).toSorted()).toEqual([
    "invoke_agent builder",
    "invoke_agent planner",
    "invoke_workflow small",
    "stage build",
    "stage plan",
  ]);
  expect(new Set(got.map(({ traceId }) => traceId)).size).toBe(1);
  expect(named("stage plan")?.parentSpanId).toBe(named("invoke_workflow small")?.spanId);
  expect(named("invoke_agent planner")?.parentSpanId).toBe(named("stage plan")?.spanId);
  expect(named("invoke_workflow small")?.parentSpanId).toBeUndefined();
  expect(named("invoke_agent planner")?.attributes).toEqual(
    expect.arrayContaining([
      { key: "gen_ai.provider.name", value: { stringValue: "anthropic" } },
      { key: "gen_ai.usage.input_tokens", value: { intValue: "7" } },
      { key: "passrail.cost.usd", value: { doubleValue: 0.5 } },
    ]),
  );
  await open();
  await telemetry?.look();
  expect(got).toHaveLength(5);
});

const point = z.strictObject({
  attributes: z.array(attribute),
  startTimeUnixNano: nanos.optional(),
  timeUnixNano: nanos,
  asDouble: z.number(),
});
const about = { name: z.string().min(1), description: z.string().min(1), unit: z.string().min(1) };
const sum = z.strictObject({
  dataPoints: z.array(point).min(1),
  aggregationTemporality: z.literal(2),
  isMonotonic: z.literal(true),
});
const metric = z.union([
  z.strictObject({ ...about, gauge: z.strictObject({ dataPoints: z.array(point).min(1) }) }),
  z.strictObject({ ...about, sum }),
]);
const numbers = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute) }),
      schemaUrl: z.url(),
      scopeMetrics: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          schemaUrl: z.url(),
          metrics: z.array(metric).min(1),
        }),
      ),
    }),
  ),
});

test("the numbers of the daemon reach the collector in the published form; one that is away is named once and disturbs nothing", async () => {
  const got: z.infer<typeof metric>[] = [];
  const log: string[] = [];
  let answer = 503;
  server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
    incoming.on("end", () => {
      expect(incoming.url).toBe("/v1/metrics");
      if (answer === 200)
        got.push(
          ...numbers
            .parse(JSON.parse(text))
            .resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
        );
      response.writeHead(answer).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scripted = await openScripted({ agent: () => ({ structured: true, verdict: "pass" }) });
  await scripted.start("a", flowOf([{ id: "plan", agent: "planner" }]));
  await scripted.until("a", "is completed", ({ status }) => status === "completed");
  const { port } = server.address() as AddressInfo;
  const settings = readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }, "1.2.3", "metrics");
  if (!settings.ok || settings.value === null) throw new Error("metrics are off");
  const config = {
    budgets: { day: { usd: 40, tokens: null } },
    slots: { value: 3 },
    statusMirror: null,
  } as unknown as Settings;
  const now = (): string => "2026-11-18T07:00:00.000Z";
  const { home, store } = scripted;
  telemetry = openMetrics({
    settings: settings.value,
    everyMs: 60_000,
    measure: () => measureState({ home, store, config, version: "1.2.3", now: now(), working: 2 }),
    now,
    log: (line) => log.push(line),
  });
  await telemetry.look();
  await telemetry.look();
  expect(log).toEqual([expect.stringContaining("answered 503")]);
  answer = 200;
  await telemetry.look();
  const named = (name: string) => got.find((each) => each.name === name);
  expect(named("passrail.attempts_working")).toMatchObject({ gauge: { dataPoints: [{ asDouble: 2 }] } });
  expect(named("passrail.events")).toMatchObject({ sum: { dataPoints: [{ startTimeUnixNano: expect.any(String) }] } });
  expect(named("passrail.day_budget_usd")).toMatchObject({ unit: "{USD}", gauge: { dataPoints: [{ asDouble: 40 }] } });
  expect(named("passrail.runs")).toMatchObject({
    gauge: {
      dataPoints: expect.arrayContaining([
        expect.objectContaining({
          asDouble: 1,
          attributes: [{ key: "status", value: { stringValue: "completed" } }],
        }),
      ]),
    },
  });
});
