// The live stream through the client: the real app on a real socket, with connections that break.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../../src/http/client/client.ts";
import type { Followed } from "../../../src/http/client/events.ts";
import type { FollowOptions, StreamState } from "../../../src/http/client/follow.ts";
import type { Listening } from "../../../src/http/server/listen.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "../http/served.ts";
import { type Front, openFront } from "./front.ts";

let served: Served;
let socket: Listening;
let front: Front;
beforeAll(async () => {
  served = await serve();
  served.play({});
  socket = await served.listen();
  front = await openFront(socket.url);
});
afterAll(async () => {
  await front.close();
  await served.close();
});

const FAST = { firstPauseMs: 5, longestPauseMs: 20 };

/** Follows in the background; everything that came, and how to stop. */
function follow(options: FollowOptions, token = served.operator) {
  const seen: Followed[] = [];
  const states: StreamState[] = [];
  const leave = new AbortController();
  const client = createClient({ url: front.url, token });
  const over = (async () => {
    const onState = (state: StreamState) => void states.push(state);
    for await (const each of client.events({ ...FAST, onState, ...options, signal: leave.signal })) seen.push(each);
  })();
  const stop = async () => {
    leave.abort();
    await over;
  };
  return { seen, states, over, stop, isOpen: () => states.at(-1)?.type === "open" || undefined };
}

const idsOf = (seen: readonly Followed[]) => seen.map((each) => ("id" in each ? each.id : each.type));

async function work(): Promise<string> {
  const { id } = await served.bench.run("feature", {});
  served.deps.events.catchUp();
  return id;
}

test("events come once and in order, also when the connection breaks again and again", async () => {
  const after = await served.seq();
  const { seen, states, stop, isOpen } = follow({ after });
  await until("the stream is open", isOpen);
  for (let round = 0; round < 4; round += 1) {
    await work();
    const before = states.length;
    front.cut();
    await until("the stream is back", () => (states.length >= before + 2 ? isOpen() : undefined));
  }
  const run = await served.bench.load(await work());
  await served.bench.answer(run, "gate", "approve");
  await until("a handoff", () => {
    served.deps.events.catchUp();
    return seen.find((each) => each.type === "handoff");
  });
  await until("it waits again", async () => (await served.bench.load(run.id)).status === "waiting" || undefined);
  served.deps.events.catchUp();
  const last = String(await served.seq());
  await until("everything came", () => idsOf(seen).at(-1) === last || undefined);
  await stop();
  const seqs = seen.flatMap((each) => (each.type === "event" ? [each.data.seq] : []));
  expect(seqs).toEqual(Array.from({ length: Number(last) - after }, (_, index) => after + index + 1));
  expect(new Set(idsOf(seen)).size).toBe(seen.length);
  expect(states.filter(({ type }) => type === "lost").length).toBeGreaterThanOrEqual(4);
});

test("only what was asked for comes", async () => {
  const after = await served.seq();
  const [wanted] = [await work(), await work()];
  const { seen, stop } = follow({ after, filter: { run: wanted, kinds: ["run", "gate"] } });
  await until("the gate", () => seen.find((each) => each.type === "event" && each.name === "gate.opened"));
  await stop();
  for (const each of seen)
    expect(each).toMatchObject({
      type: "event",
      data: { runId: wanted },
      name: expect.stringMatching(/^(run|gate)\./),
    });
});

test("an id that the store never gave is told as a reset, and the stream goes on", async () => {
  const { seen, stop } = follow({ after: 999_999 });
  await until("the reset", () => seen.find((each) => each.type === "reset"));
  expect(seen[0]).toMatchObject({ type: "reset", data: { reason: "unknown", seq: await served.seq() } });
  await work();
  await until("an event", () => seen.find((each) => each.type === "event"));
  await stop();
});

test("who is not let in is told so once, and nothing is tried again", async () => {
  const before = front.count();
  const { seen, over } = follow({}, "pr_op_wrong");
  await over;
  expect(seen).toMatchObject([{ type: "refused", problem: { code: "auth_invalid", status: 401 } }]);
  expect(front.count() - before).toBeLessThanOrEqual(1);
});

test("a stream that falls silent is given up and opened again", async () => {
  const { states, stop } = follow({ silenceMs: 50 });
  await until("it was lost twice", () => (states.filter(({ type }) => type === "lost").length > 1 ? true : undefined));
  await stop();
  expect(states.map(({ type }) => type).slice(0, 3)).toEqual(["open", "lost", "open"]);
});

test("a caller that leaves in the middle frees its place", async () => {
  const leave = createClient({ url: socket.url, token: served.operator });
  for await (const each of leave.events({ after: 0 })) {
    expect(each.type).toBe("event");
    break;
  }
  await until("nobody listens", () => (served.deps.events.stats().clients === 0 ? true : undefined));
});
