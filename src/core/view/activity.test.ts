// Made-up events; `test/scenarios/activity` has what the agent programs really printed.

import { expect, test } from "vitest";
import { type ActivityItem, activityOf } from "./activity.ts";
import { type ActivityEvent, printedLine, readActivityLine } from "./activity-event.ts";
import { activityLine, activityLines } from "./activity-lines.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, second)).toISOString();
const events = (...made: readonly object[]): readonly ActivityEvent[] =>
  made.flatMap((event, place) => readActivityLine(JSON.stringify({ at: at(place), ...event }), place) ?? []);
const show = (items: readonly ActivityItem[]) => items.map((item) => `${item.is}: ${activityLine(item)}`);
const called = (id: string, name: string, input: object) => ({
  type: "tool.called",
  id,
  name,
  input: JSON.stringify(input),
});
const returned = (id: string, output = "", ok = true) => ({ type: "tool.returned", id, ok, output });

test("messages, thoughts, calls with result and time, notices and sub-agents are entries in their order", () => {
  const items = activityOf(
    events(
      { type: "session", id: "s", model: "m-1" },
      { type: "thinking", text: "I look first.\nThen I act." },
      { type: "message", text: "Looking." },
      called("1", "Bash", { command: "npm test" }),
      returned("1", "Exit code 3\nboom", false),
      { type: "task.started", id: "t", name: "explorer", text: "find it" },
      { type: "notice", kind: "limit", text: "The limit is near.", resetsAt: at(60) },
      { type: "usage", usage: { inputTokens: 5, outputTokens: null, usd: null } },
      { type: "of a later version", text: "?" },
      called("2", "Bash", { command: "sleep 9" }),
    ),
    { isOver: false },
  );
  expect(show(items)).toEqual([
    "began: began, with m-1",
    "thought: I look first.",
    "said: Looking.",
    "call: Bash npm test",
    "task: explorer started: find it",
    "notice: The limit is near.",
    "call: Bash sleep 9",
  ]);
  expect(items[3]).toMatchObject({ call: { ok: false, exit: 3, output: "boom", ms: 1000 } });
  expect(items[6]).toMatchObject({ call: { ok: null, ms: null } });
  expect(items.flatMap(activityLines)).toEqual([
    "10:00:00 began, with m-1",
    "10:00:01 (thinks) I look first.",
    "         Then I act.",
    "10:00:02 Looking.",
    "10:00:03 ✖ Bash npm test (exit 3, 1.0 s)",
    "    boom",
    "10:00:05 explorer started: find it",
    `10:00:06 ! The limit is near. (until ${at(60)})`,
    "10:00:09 … Bash sleep 9",
  ]);
});

test("a call without a result has failed once the attempt is over", () => {
  expect(activityOf(events(called("1", "Bash", { command: "x" })), { isOver: true })).toMatchObject([
    { call: { ok: false } },
  ]);
});

test("alike calls in a row are one entry; what fails, works or stands alone is not hidden", () => {
  const reads = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => [
      called(`r${from + index}`, "Read", { file_path: `/f${from + index}` }),
      returned(`r${from + index}`),
    ]).flat();
  const items = activityOf(
    events(
      ...reads(0, 14),
      { type: "message", text: "Enough." },
      ...reads(20, 2),
      called("g", "Grep", { pattern: "x" }),
      returned("g"),
      called("bad", "Read", { file_path: "/none" }),
      returned("bad", "no such file", false),
      ...reads(30, 2),
      ...Array.from({ length: 5 }, (_, shard) => [
        called(`c${shard}`, "Bash", { command: `npm test -- shard ${shard}` }),
        returned(`c${shard}`, "ok"),
      ]).flat(),
    ),
    { isOver: true },
  );
  expect(show(items)).toEqual([
    "calls: Read 14 files",
    "said: Enough.",
    "calls: Read 2 files, searched 1 time",
    "call: Read /none",
    "call: Read /f30",
    "call: Read /f31",
    "calls: Ran npm test 5 times",
  ]);
  expect(new Set(items.map(({ place }) => place)).size).toBe(items.length);
});

test("an id that a program uses again belongs to the next result", () => {
  const items = activityOf(
    events(
      called("0", "Bash", { command: "a" }),
      returned("0", "first"),
      called("0", "Bash", { command: "b" }),
      returned("0", "second", false),
    ),
    { isOver: true },
  );
  expect(items).toMatchObject([
    { call: { title: "a", output: "first" } },
    { call: { title: "b", output: "second", ok: false } },
  ]);
});

test("lines of a program that only prints are blocks", () => {
  const lines = Array.from({ length: 100 }, (_, place) => printedLine(`line ${place}`, place * 10));
  const items = activityOf(lines, { isOver: false });
  expect(items.map((item) => (item.is === "printed" ? item.lines.length : item.is))).toEqual([40, 40, 20]);
});

test("a line that is no event, or says something endless, does no harm", () => {
  for (const line of ["", "no json", "[1]", "null", '{"type":5}', '{"type":"message"}', '{"type":"tool.called"}'])
    expect(() => activityOf([readActivityLine(line, 0) ?? []].flat(), { isOver: true })).not.toThrow();
  const long = readActivityLine(JSON.stringify({ type: "message", text: "x".repeat(60_000) }), 0);
  expect(long).toMatchObject({ type: "message", isCut: true });
});

test("50,000 events are grouped within a blink", () => {
  const many = events(
    ...Array.from({ length: 25_000 }, (_, index) => [
      called(String(index), index % 3 === 0 ? "Read" : "Bash", {
        file_path: "/a",
        command: index % 3 === 0 ? undefined : `c${index}`,
      }),
      returned(String(index), "ok"),
    ]).flat(),
  );
  const before = performance.now();
  expect(activityOf(many, { isOver: true }).length).toBeGreaterThan(10_000);
  // Ten times what it takes on a busy machine.
  expect(performance.now() - before).toBeLessThan(2000);
});
