import { expect, test } from "vitest";
import type { AttemptRoom } from "../core/budget/room.ts";
import type { AgentEvent, AttemptEnd } from "../runner/runner.ts";
import { type WatchedProgram, watchWork } from "./watch-work.ts";

const RUN = { scope: "run", key: "r1", size: 1, needed: 0 } as const;

function watching(change: Partial<WatchedProgram> = {}, hasVerdict = (): boolean => false) {
  const told: unknown[] = [];
  let room: AttemptRoom = [];
  const ports = { room: () => room, spent: (reported: unknown) => void told.push(reported) };
  const program = { runner: "opencode", places: { env: { HOME: "/nowhere" }, cwd: "/nowhere" }, ports } as const;
  const limits = { sameCalls: undefined, maxCostUsd: undefined };
  const watch = watchWork({ ...program, ...limits, ...change }, { model: () => "m", hasVerdict, onLimits: () => {} });
  watch.begin(null);
  return { watch, told, setRoom: (next: AttemptRoom) => void (room = next) };
}

const used = (usd: number | null, inputTokens: number | null = 10): AgentEvent => ({
  type: "usage",
  usage: { usd, inputTokens, outputTokens: 0, cachedTokens: null },
});
const ended = { reason: "canceled", conversation: undefined } as unknown as AttemptEnd;
/** A program that prints fast is not looked at with every line. */
async function show(watch: ReturnType<typeof watching>["watch"], event: AgentEvent): Promise<void> {
  watch.note(event);
  await expect
    .poll(() => watch.reported()?.usage, { timeout: 10_000 })
    .toMatchObject(event.type === "usage" ? event.usage : {});
}

test("a budget that is used up stops the work, whoever used it up", async () => {
  const { watch, told, setRoom } = watching();
  setRoom([{ ...RUN, unit: "usd", limit: 5, left: 3 }]);
  await show(watch, used(2));
  expect(watch.stopped()).toBeUndefined();
  // Others have used what was left; nothing new is heard of this one.
  setRoom([{ ...RUN, unit: "usd", limit: 5, left: 1.5 }]);
  await expect.poll(() => watch.signal.aborted, { timeout: 10_000 }).toBe(true);
  expect(watch.stopped()).toMatchObject({ by: "budget", limit: { scope: "run", unit: "usd", limit: 5, used: 5.5 } });
  watch.end(ended);
  expect(told.at(-1)).toMatchObject({ runner: "opencode", model: "m", usage: { usd: 2 } });
  watch.close();
});

test("a raise while it works lets it go on, and unknown dollars do not stop it; its tokens do", async () => {
  const { watch, setRoom } = watching();
  setRoom([{ ...RUN, unit: "usd", limit: 9, left: 9 }]);
  await show(watch, used(null, 500));
  expect(watch.stopped()).toBeUndefined();
  setRoom([{ ...RUN, unit: "tokens", limit: 500, left: 500 }]);
  await expect
    .poll(() => watch.stopped(), { timeout: 10_000 })
    .toMatchObject({ by: "budget", limit: { unit: "tokens" } });
  watch.close();
});

test("one attempt may cost no more than max_cost", async () => {
  const { watch } = watching({ maxCostUsd: 1 });
  await show(watch, used(0.99));
  expect(watch.stopped()).toBeUndefined();
  watch.note(used(1.2));
  await expect.poll(() => watch.stopped(), { timeout: 10_000 }).toEqual({ by: "cost", usd: 1.2, limit: 1 });
  watch.close();
});

test("a verdict that was accepted is not thrown away for the tokens after it", async () => {
  const { watch, setRoom } = watching({ maxCostUsd: 1, sameCalls: 3 }, () => true);
  setRoom([{ ...RUN, unit: "usd", limit: 1, left: 0 }]);
  await show(watch, used(5));
  for (const id of ["1", "2", "3", "4"]) watch.note({ type: "tool.called", id, name: "x", input: "" });
  expect(watch.stopped()).toBeUndefined();
  watch.close();
});

test("a program that only prints has no bill", () => {
  const { watch, told, setRoom } = watching({ runner: "command" });
  setRoom([{ ...RUN, unit: "tokens", limit: 0, left: 0 }]);
  watch.end(ended);
  expect([watch.reported(), watch.stopped(), told]).toEqual([undefined, undefined, []]);
  watch.close();
});
