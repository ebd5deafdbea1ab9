// The document is judged by tools that are not ours: a validator of OpenAPI 3.1, and a generator whose client talks to a listening server.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { generateSource } from "oazapfts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import type { Listening } from "../../../src/http/server/listen.ts";
import { type Served, serve } from "../http/served.ts";

const MODULES = join(import.meta.dirname, "../../../node_modules");

type Reply = {
  readonly status: number;
  readonly data: { readonly id?: string; readonly run?: { readonly id: string } };
};
/** What the generator makes of an operation: a function that answers with status and data, or fails with both. */
type Generated = Readonly<Record<string, (...given: unknown[]) => Promise<Reply>>> & {
  readonly defaults: { baseUrl: string; headers: Record<string, string> };
};

let served: Served;
let socket: Listening;
let folder: string;
let client: Generated;
beforeAll(async () => {
  served = await serve();
  served.play({});
  socket = await served.listen();
  const headers = { authorization: `Bearer ${served.operator}` };
  const document = await fetch(`${socket.url}/api/openapi.json`, { headers }).then((response) => response.text());
  folder = mkdtempSync(join(tmpdir(), "passrail-openapi-"));
  // The generated file asks for the generator's own small runtime.
  symlinkSync(MODULES, join(folder, "node_modules"));
  writeFileSync(join(folder, "openapi.json"), document);
  writeFileSync(join(folder, "client.ts"), await generateSource(join(folder, "openapi.json")));
  client = (await import(pathToFileURL(join(folder, "client.ts")).href)) as Generated;
  client.defaults.baseUrl = socket.url;
  client.defaults.headers = headers;
});
afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

test("an independent validator finds nothing wrong with the document", async () => {
  const { body } = await served.call("GET", "/api/openapi.json");
  const validator = new Validator();
  expect(await validator.validate(body)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  const broken = { ...body, paths: { "/x": { get: { parameters: [{ name: "a" }] } } } };
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
});

test("the generated client has a function for every route of the table", () => {
  for (const name of Object.keys(ROUTES)) expect([name, typeof client[name]]).toEqual([name, "function"]);
});

test("it reads, with parameters in path and query", async () => {
  const run = await served.bench.run("feature", {});
  await served.bench.run("feature", {});
  expect(await client["listRuns"]?.({ limit: 1, flow: "feature" })).toMatchObject({
    status: 200,
    data: { runs: [{ number: 2 }], next: 2 },
  });
  expect(await client["showRun"]?.(run.id)).toMatchObject({ data: { id: run.id, flow: "feature" } });
  expect(await client["runEvents"]?.(run.id, { limit: 2, after: 0 })).toMatchObject({
    data: { events: [{ event: { type: "run.created" } }, {}] },
  });
  expect(await client["showTicket"]?.("F-1")).toMatchObject({ data: { runs: 2 } });
});

test("it acts, with a body and with headers, and is told what was refused as a problem", async () => {
  const wish = { flow: "feature", title: "By tool" };
  const started = await client["startRun"]?.(wish, { idempotencyKey: "one" });
  expect(started).toMatchObject({ status: 201, data: { run: { subject: { title: "By tool" } } } });
  const again = await client["startRun"]?.(wish, { idempotencyKey: "one" });
  expect(again?.data).toEqual(started?.data);
  const id = started?.data.run?.id;
  expect(await client["pauseRun"]?.(id, { reason: "wait" })).toMatchObject({ data: { changed: true } });
  const made = await client["createKey"]?.({ name: "tool", kind: "viewer" });
  expect(made).toMatchObject({ status: 201, data: { name: "tool" } });
  const key = made?.data.id;
  expect(await client["revokeKey"]?.(key)).toMatchObject({ status: 200, data: { revoked: true } });
  expect(await client["revokeKey"]?.(key)).toMatchObject({ status: 404, data: { code: "key_not_found" } });
  expect(await client["startRun"]?.({ ...wish, flow: "no-such" })).toMatchObject({
    status: 422,
    data: { code: "unknown_flow", pointer: "/flow" },
  });
});
