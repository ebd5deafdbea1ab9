// The same wish twice is one wish, also when many send it at once, also after a restart; different wishes meet and one of them wins.

import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
  served.play({});
});
afterEach(() => served.close());

const start = (title: string, key: string) =>
  served.call("POST", "/api/runs", { body: { flow: "feature", title }, headers: { "idempotency-key": key } });
const idOf = (reply: { body: unknown }) => ROUTES.startRun.answer.schema.parse(reply.body).run.id;

test("25: the same key starts one run; with another body it is refused", async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => start("Once", "key-1")));
  expect(new Set(replies.map(idOf)).size).toBe(1);
  expect((await served.call("GET", "/api/runs")).body["runs"]).toHaveLength(1);
  const before = await served.seq();
  expect(await start("Twice", "key-1")).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  expect(await served.seq()).toBe(before);
  expect(idOf(await start("Twice", "key-2"))).not.toBe(idOf(await start("Once", "key-1")));
  for (const key of ["", " ", "x".repeat(201), "ü"]) expect((await start("Once", key)).status).toBe(400);
});

test("a key outlives the daemon: the app after a restart finds the run of the first time", async () => {
  const first = idOf(await start("Once", "key-1"));
  served.app = createApp(served.parts, { port: 4321 });
  const second = await start("Once", "key-1");
  expect(second.status).toBe(201);
  expect(idOf(second)).toBe(first);
  expect(await start("Other", "key-1")).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
});

test("R-000-23: fifty answers to one gate at once: one counts, its equals change nothing, the others hear how it ended", async () => {
  const { id } = await served.bench.run("feature", {});
  const answerAll = () =>
    Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        served.call("POST", `/api/inbox/${id}.1/answer`, {
          body: index % 2 === 0 ? { answer: "approve" } : { answer: "reject", text: "no" },
          headers: { "if-match": "*", "idempotency-key": `caller-${index}` },
        }),
      ),
    );
  const answers = await answerAll();
  const won = answers.filter(({ status, body }) => status === 200 && body["decided"] === undefined);
  expect(won).toHaveLength(1);
  const decided = { answer: won[0]?.body["answer"], by: "human:tester" };
  const equal = answers.filter(({ status, body }) => status === 200 && body["decided"] !== undefined);
  expect(equal).toHaveLength(24);
  for (const { body } of equal) expect(body).toMatchObject({ answer: decided.answer, decided });
  const others = answers.filter(({ body }) => body["code"] === "gate_not_waiting");
  expect(others).toHaveLength(25);
  for (const { body } of others) expect(body).toMatchObject({ decided });
  const answered = (await served.bench.events(id)).filter(({ type }) => type === "gate.answered");
  expect(answered).toMatchObject([{ answer: decided.answer, actor: "human:tester" }]);

  // Everybody tries again, twice, each time after a restart: each gets the same status again, and nothing happens.
  await served.bench.passrail.engine.idle();
  const before = await served.seq();
  for (let restart = 0; restart < 2; restart++) {
    served.app = createApp(served.parts, { port: 4321 });
    const retried = await answerAll();
    expect(retried.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
  }
  expect(await served.seq()).toBe(before);
});

test("a run is taken in hand: pause, resume, cancel, each once", async () => {
  const { id } = await served.bench.run("feature", {});
  const act = (verb: string, body: object) => served.call("POST", `/api/runs/${id}/${verb}`, { body });
  expect(await act("pause", { reason: "lunch" })).toMatchObject({ status: 200, body: { changed: true } });
  expect(await act("pause", {})).toMatchObject({ status: 200, body: { changed: false } });
  expect(await act("resume", {})).toMatchObject({ status: 200, body: { changed: true } });
  expect(await act("skip", { reason: " " })).toMatchObject({ status: 422, body: { code: "reason_required" } });
  expect(await act("retry", { stage: "nowhere" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  const before = await served.seq();
  const keyed = (body: object) =>
    served.call("POST", `/api/runs/${id}/retry`, { body, headers: { "idempotency-key": "again" } });
  for (let again = 0; again < 2; again++)
    expect(await keyed({ stage: "nowhere" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect(await served.seq()).toBe(before);
  expect(await act("cancel", { reason: "enough" })).toMatchObject({
    status: 200,
    body: { run: { status: "canceled" } },
  });
  expect(await act("cancel", {})).toMatchObject({ status: 200, body: { changed: false } });
  expect(await act("retry", {})).toMatchObject({ status: 409, body: { code: "run_ended" } });
  const canceled = (await served.bench.events(id)).filter(({ type }) => type === "run.canceled");
  expect(canceled).toMatchObject([{ reason: "enough", actor: "human:tester" }]);
});
