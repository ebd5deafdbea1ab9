// The log of what was sent, as people reach it: over the API, and by `passrail webhook` with nothing else running.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../../src/http/server/app.ts";
import { type Receiver, SECRET, startReceiver } from "../../../src/notify/receiver.testsuite.ts";
import { type Notifications, openNotifications } from "../../../src/notify/open.ts";
import { type Bench, openBench } from "../cli/bench.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "../http/served.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const settingsOf = (secret_file: string) => [
  {
    name: "team",
    format: "standard" as const,
    url: `http://127.0.0.1:${receiver.port}/hook`,
    secret_file,
    allow_http: true,
    allow_private: true,
  },
];

describe("over the API", () => {
  let served: Served;
  let told: Notifications;
  beforeAll(async () => {
    served = await serve();
    const secret = join(served.bench.dir, "secret");
    writeFileSync(secret, SECRET, { mode: 0o600 });
    const opened = openNotifications({
      config: { notifyCommand: null, notifyEndpoints: settingsOf(secret) },
      environment: {},
      home: served.bench.home,
      store: served.deps.store,
      url: () => "",
      onProblem: (text) => served.problems.push(text),
      with: { graceMs: 100 },
    });
    if (opened === null) throw new Error("nobody is told");
    told = opened;
    served.app = createApp({ ...served.deps, deliveries: told.deliveries }, { port: 4321 });
  });
  afterAll(async () => {
    await told.close();
    await served.close();
  });

  const post = (path: string) => served.call("POST", path, { body: {} });
  const list = async () =>
    (await served.call("GET", "/api/deliveries")).body["deliveries"] as { id: string; status: string; tries: number }[];

  test("a test notice arrives, stands in the log, and can be sent again under its id", async () => {
    const sent = await post("/api/endpoints/team/test");
    expect(sent).toMatchObject({ status: 202, body: { endpoint: "team", event: "test", item: null } });
    await until("it is delivered", async () => ((await list())[0]?.status === "delivered" ? true : undefined));
    const id = String(sent.body["id"]);
    expect(await post(`/api/deliveries/${id}/redeliver`)).toMatchObject({ status: 202, body: { id } });
    await until("it came twice", () => (receiver.got.length === 2 ? true : undefined));
    expect(receiver.got.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect((await served.call("GET", "/api/deliveries?endpoint=other")).body).toEqual({ deliveries: [] });
    expect(JSON.stringify((await served.call("GET", "/api/deliveries")).body)).not.toContain(String(receiver.port));
  });

  test("an endpoint that says it is gone is disabled, shows so, and is used again when a person says so", async () => {
    receiver.answer = (response) => void response.writeHead(410).end();
    await post("/api/endpoints/team/test");
    const state = async () =>
      ((await served.call("GET", "/api/endpoints")).body["endpoints"] as Record<string, unknown>[])[0];
    await until("it is disabled", async () => ((await state())?.["disabled"] === true ? true : undefined));
    expect(await state()).toEqual({
      name: "team",
      format: "standard",
      disabled: true,
      pending: 0,
      failing: "answered 410",
    });
    expect(await post("/api/endpoints/team/test")).toMatchObject({ status: 409, body: { code: "endpoint_disabled" } });
    receiver.answer = (response) => void response.writeHead(204).end();
    expect(await post("/api/endpoints/team/enable")).toMatchObject({ status: 200, body: { disabled: false } });
    expect((await post("/api/endpoints/team/test")).status).toBe(202);
  });

  test("what is not there is 404", async () => {
    expect(await post("/api/endpoints/nobody/test")).toMatchObject({
      status: 404,
      body: { code: "endpoint_not_found" },
    });
    expect(await post("/api/endpoints/nobody/enable")).toMatchObject({ status: 404 });
    expect(await post("/api/deliveries/msg_0000000000/redeliver")).toMatchObject({
      status: 404,
      body: { code: "delivery_not_found" },
    });
  });
});

describe("by command", () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
    const folder = join(bench.dir, "config", "passrail");
    mkdirSync(folder, { recursive: true });
    const secret = join(bench.dir, "secret");
    writeFileSync(secret, SECRET, { mode: 0o600 });
    writeFileSync(join(folder, "passrail.yaml"), JSON.stringify({ notify: { endpoints: settingsOf(secret) } }));
  });
  afterAll(() => bench.remove());

  const webhook = (...args: readonly string[]) =>
    bench.passrail(["webhook", ...args], { env: { XDG_CONFIG_HOME: join(bench.dir, "config") } });

  test("an endpoint is tried, its log read, and a delivery repeated, without a daemon", async () => {
    const before = receiver.got.length;
    const tested = await webhook("test", "team");
    expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/^team: delivered, delivered \(msg_/) });
    expect(receiver.got).toHaveLength(before + 1);
    const listed = await webhook("deliveries", "--json");
    const [sent] = (JSON.parse(listed.out) as { deliveries: { id: string; status: string }[] }).deliveries;
    expect(sent).toMatchObject({ status: "delivered" });
    expect((await webhook("redeliver", sent?.id ?? "")).code).toBe(0);
    expect(receiver.got).toHaveLength(before + 2);
    expect((await webhook("endpoints")).out).toContain("team\tstandard\tok\t0");
  });

  test("a failure ends with another code and says why", async () => {
    receiver.answer = (response) => void response.writeHead(500).end();
    expect(await webhook("test", "team")).toMatchObject({ code: 5, out: expect.stringContaining("answered 500") });
    expect(await webhook("test", "nobody")).toMatchObject({
      code: 1,
      err: expect.stringContaining("endpoint_not_found"),
    });
    receiver.answer = (response) => void response.writeHead(204).end();
  });
});
