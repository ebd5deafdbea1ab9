// The demo that the dashboard starts: on the daemon's own engine, with programs that are shipped, in a repository of its own.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { type Running, startDaemon } from "./running.ts";

let daemon: Running;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.close());

type Row = {
  readonly id: string;
  readonly number: number;
  readonly status: string;
  readonly subject: { readonly id: string };
};

test("two runs begin: one comes back from QA once and waits to be shipped, the other waits to be started", async () => {
  const reply = await daemon.call("POST", "/api/demo", { body: {}, headers: { "idempotency-key": "demo-0001" } });
  expect(reply.status).toBe(201);
  const { runs, project } = reply.body as unknown as { runs: Row[]; project: string };
  expect(runs.map(({ subject }) => subject.id)).toEqual(["DEMO-1", "DEMO-2"]);
  expect(existsSync(join(project, ".git"))).toBe(true);
  expect(project.startsWith(daemon.home)).toBe(true);
  const show = async (row: Row | undefined) =>
    (await daemon.call("GET", `/api/runs/${row?.id}`)).body as unknown as Shown;
  const first = await until(
    "the first run waits to be shipped",
    async () => {
      const run = await show(runs[0]);
      return run.items.some(({ stage }) => stage === "ship") ? run : undefined;
    },
    60_000,
  );
  expect(first.counters).toContainEqual({ key: "revision", loops: 1, max: 2 });
  expect(first.stages.find(({ id }) => id === "qa")?.attempts.map(({ word }) => word)).toEqual(["REVISE", "SHIP"]);
  expect((await show(runs[1])).items).toMatchObject([{ kind: "gate", stage: "start" }]);
  // The same wish starts nothing twice; another one finds new numbers.
  const again = await daemon.call("POST", "/api/demo", { body: {}, headers: { "idempotency-key": "demo-0001" } });
  expect((again.body as unknown as { runs: Row[] }).runs.map(({ id }) => id)).toEqual(runs.map(({ id }) => id));
  const more = await daemon.call("POST", "/api/demo", { body: {} });
  expect((more.body as unknown as { runs: Row[] }).runs.map(({ subject }) => subject.id)).toEqual(["DEMO-3", "DEMO-4"]);
}, 90_000);

test("the daemon tells its project and, without keeping anybody waiting, the programs of this machine", async () => {
  expect((await daemon.call("GET", "/api/project")).body).toMatchObject({ path: daemon.project });
  const began = performance.now();
  const { runners } = (await daemon.call("GET", "/api/runners")).body as unknown as { runners: unknown[] };
  expect(Array.isArray(runners)).toBe(true);
  expect(performance.now() - began).toBeLessThan(10_000);
});

type Shown = {
  readonly items: readonly { readonly stage: string; readonly kind: string }[];
  readonly counters: readonly unknown[];
  readonly stages: readonly { readonly id: string; readonly attempts: readonly { readonly word: string | null }[] }[];
};
