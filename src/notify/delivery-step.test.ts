import { describe, expect, test } from "vitest";
import type { NoticeDelivery } from "./deliveries.ts";
import { type DeliveryFacts, deliveryAfterTry, planDeliveries } from "./delivery-step.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const at = (ms: number) => new Date(NOW + ms).toISOString();
const delivery = (id: string, more: Partial<NoticeDelivery> = {}): NoticeDelivery => ({
  id,
  endpoint: "ops",
  queuedAt: at(0),
  notice: { runId: "r1", to: "owner", event: "gate", text: "x", item: "r1.1" },
  tries: 0,
  history: [],
  state: { status: "pending", dueAt: at(0) },
  ...more,
});
const facts = (more: Partial<DeliveryFacts> = {}): DeliveryFacts => ({
  nowMs: NOW,
  endpoints: new Map([
    ["ops", "enabled"],
    ["gone", "disabled"],
  ]),
  running: new Map(),
  heldUntilMs: new Map(),
  ...more,
});
const inform = { ...delivery("x").notice, item: null };

describe("which deliveries start", () => {
  const plan = (deliveries: readonly NoticeDelivery[], more: Partial<DeliveryFacts> = {}) => {
    const { start, end, nextInMs } = planDeliveries(deliveries, facts(more));
    return { start: start.map(({ id }) => id), end: end.map(({ reason }) => reason), nextInMs };
  };

  test.each<readonly [string, readonly NoticeDelivery[], Partial<DeliveryFacts>, Partial<ReturnType<typeof plan>>]>([
    ["one that is due starts", [delivery("a")], {}, { start: ["a"], nextInMs: Number.POSITIVE_INFINITY }],
    [
      "one that is due later waits",
      [delivery("a", { state: { status: "pending", dueAt: at(500) } })],
      {},
      { start: [], nextInMs: 500 },
    ],
    [
      "one that is held waits",
      [delivery("a")],
      { heldUntilMs: new Map([["a", NOW + 700]]) },
      { start: [], nextInMs: 700 },
    ],
    [
      "one that is being sent does not start twice",
      [delivery("a")],
      { running: new Map([["a", "ops"]]) },
      { start: [] },
    ],
    [
      "one that was delivered does not start",
      [delivery("a", { state: { status: "delivered", at: at(0) } })],
      {},
      { start: [] },
    ],
    [
      "questions come before information",
      [delivery("a", { notice: inform }), delivery("b")],
      {},
      { start: ["b", "a"] },
    ],
    [
      "a disabled endpoint ends its deliveries",
      [delivery("a", { endpoint: "gone" })],
      {},
      { start: [], end: ["the endpoint is disabled"] },
    ],
    [
      "an unknown endpoint may belong to another process",
      [delivery("a", { endpoint: "new" })],
      {},
      { start: [], end: [] },
    ],
    [
      "until all tries would be over",
      [delivery("a", { endpoint: "new", queuedAt: at(-6 * 86_400_000) })],
      {},
      { end: ["the endpoint was removed"] },
    ],
  ])("%s", (_, deliveries, more, expected) => {
    expect(plan(deliveries, more)).toMatchObject(expected);
  });

  test("at most four at once per endpoint, with those that are being sent", () => {
    const many = ["a", "b", "c", "d", "e", "f"].map((id) => delivery(id));
    expect(plan(many).start).toEqual(["a", "b", "c", "d"]);
    expect(
      plan(many, {
        running: new Map([
          ["a", "ops"],
          ["z", "other"],
        ]),
      }).start,
    ).toEqual(["b", "c", "d"]);
  });
});

describe("what becomes of a delivery after a try", () => {
  const after = (status: number, tries = 0, isUnwanted = false) =>
    deliveryAfterTry(
      { tries },
      { type: "answered", status, retryAfterMs: null },
      { nowMs: NOW, chance: 0, isUnwanted },
    );

  test("a success delivers it", () => {
    expect(after(204)).toEqual({
      change: { tries: 1, attempt: { at: at(0), result: "delivered" }, state: { status: "delivered", at: at(0) } },
      disablesEndpoint: false,
      givenUp: null,
    });
  });

  test("a failure is tried again after the back-off, unless its item was answered meanwhile", () => {
    expect(after(500).change).toEqual({
      tries: 1,
      attempt: { at: at(0), result: "answered 500" },
      state: { status: "pending", dueAt: at(5000) },
    });
    expect(after(500, 1).change.state).toEqual({ status: "pending", dueAt: at(5 * 60_000) });
    expect(after(500, 0, true).change.state).toEqual({ status: "withdrawn", at: at(0) });
  });

  test("the last failure gives up", () => {
    expect(after(500, 9)).toMatchObject({
      change: { tries: 10, state: { status: "failed", reason: "answered 500" } },
      disablesEndpoint: false,
      givenUp: "answered 500",
    });
  });

  test("410 fails it and disables the endpoint", () => {
    expect(after(410)).toMatchObject({
      change: { state: { status: "failed", reason: "answered 410" } },
      disablesEndpoint: true,
      givenUp: null,
    });
  });
});
