// What an agent did, over HTTP: in parts from both ends, while its record grows, and searched over all attempts.

import { appendFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptFiles } from "../../../src/attempt/attempt-files.ts";
import { readLastLine } from "../../../src/app/now.ts";
import { createFollowedAttempts } from "../../../src/http/server/events/followed-attempts.ts";
import type { AttemptGrowth } from "../../../src/http/server/events/message.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

type Page = {
  source: string;
  size: number;
  from: number;
  to: number;
  isEnd: boolean;
  events: { type: string; place: number; text: string }[];
};

let served: Served;
let runId: string;
beforeAll(async () => {
  served = await serve();
  const started = await served.bench.run("feature", {
    spec: [{ via: "json-tail", verdict: "APPROVED", say: "hello" }],
    design: [{ via: "json-tail", verdict: "APPROVED" }],
  });
  await served.bench.answer(started, "gate", "approve");
  runId = started.id;
});
afterAll(() => served.close());

const files = () => attemptFiles(served.bench.home, runId, "spec", 1);
const ask = async (query = "", stage = "spec"): Promise<Page> => {
  const { status, body } = await served.call("GET", `/api/runs/${runId}/attempts/${stage}/1/activity${query}`);
  expect(status).toBe(200);
  return body as unknown as Page;
};
const line = (text: string) => `${JSON.stringify({ at: "2026-01-01T10:00:00.000Z", type: "message", text })}\n`;
const texts = (pages: readonly Page[]) => pages.flatMap(({ events }) => events.map(({ text }) => text));

test("a program that only prints is shown by its lines, without terminal codes", async () => {
  writeFileSync(files().output, "\u001b[31mred\u001b[0m\r\nsecond\nwithout an end");
  const page = await ask();
  expect([page.source, page.isEnd, page.from]).toEqual(["output", true, 0]);
  expect(texts([page])).toEqual(["red", "second", "without an end"]);
});

test("the end comes first; from there every event is reached once, backwards and forwards, in parts of any size", async () => {
  const all = Array.from({ length: 400 }, (_, at) => `ä ${at} ${"x".repeat(at % 37)}`);
  writeFileSync(files().events, all.map(line).join(""));
  for (const limit of [1024, 5000, 512 * 1024]) {
    const pages = [await ask(`?limit=${limit}`)];
    expect(pages[0]?.isEnd).toBe(true);
    while ((pages[0]?.from ?? 0) > 0) pages.unshift(await ask(`?limit=${limit}&before=${pages[0]?.from}`));
    expect(texts(pages)).toEqual(all);
    const forwards: Page[] = [];
    for (let from = 0; ; ) {
      const page = await ask(`?limit=${limit}&from=${from}`);
      forwards.push(page);
      from = page.to;
      if (page.isEnd) break;
    }
    expect(texts(forwards)).toEqual(all);
  }
});

test("a line that is not finished waits; a line longer than a part is read whole; what is no event is left out", async () => {
  const long = "y".repeat(60_000);
  writeFileSync(files().events, `${line("one")}not json\n${line(long)}${line("three")}`);
  const pages: Page[] = [];
  for (let from = 0; ; ) {
    const page = await ask(`?limit=1024&from=${from}`);
    pages.push(page);
    if (page.isEnd) break;
    expect(page.to).toBeGreaterThan(from);
    from = page.to;
  }
  expect(texts(pages).map((text) => text.slice(0, 5))).toEqual(["one", "yyyyy", "three"]);
  const back = await ask(`?limit=1024&before=${pages.at(-1)?.events.at(-1)?.place}`);
  expect(texts([back]).at(-1)?.startsWith("yyyyy")).toBe(true);
});

test("a text is found in all attempts, newest first, in words and tools, without regard to case, page by page", async () => {
  const called = {
    at: "",
    type: "tool.called",
    id: "1",
    name: "Bash",
    input: JSON.stringify({ command: "grep NEEDLE" }),
  };
  writeFileSync(files().events, `${line("a needle here")}${JSON.stringify(called)}\n${line("hay")}`);
  await until("design has an output", async () => ((await ask("", "design")).size > 0 ? true : undefined));
  appendFileSync(attemptFiles(served.bench.home, runId, "design", 1).output, "\nprinted needle\n");
  const found: { stage: string; what: string; text: string }[] = [];
  for (let after = "0-0"; ; ) {
    const { body } = await served.call("GET", `/api/runs/${runId}/activity/search?q=Needle&limit=1&after=${after}`);
    found.push(...(body["found"] as typeof found));
    if (typeof body["next"] !== "string") break;
    after = body["next"];
  }
  expect(found.map(({ stage, what, text }) => [stage, what, text])).toEqual([
    ["design", "printed", "printed needle"],
    ["spec", "message", "a needle here"],
    ["spec", "called", "Bash grep NEEDLE"],
  ]);
});

test("a link in place of the record is not followed, and wrong questions are answered as such", async () => {
  unlinkSync(files().events);
  symlinkSync("/etc/passwd", files().events);
  expect((await ask()).source).toBe("output");
  for (const [path, status] of [
    [`/api/runs/${runId}/attempts/spec/9/activity`, 404],
    [`/api/runs/9999/attempts/spec/1/activity`, 404],
    [`/api/runs/${runId}/attempts/spec/1/activity?limit=1`, 400],
    [`/api/runs/${runId}/attempts/spec/1/activity?from=-1`, 400],
    [`/api/runs/${runId}/activity/search?q=`, 400],
    [`/api/runs/${runId}/activity/search?q=a&after=x`, 400],
  ] as const)
    expect([path, (await served.call("GET", path)).status]).toEqual([path, status]);
  expect(await ask("?from=99999999")).toMatchObject({ events: [], isEnd: true });
});

test("who has read an attempt is told of its growth, once per change; a silent one costs nothing, and is forgotten", async () => {
  const told: AttemptGrowth[] = [];
  let nowMs = 0;
  const home = served.bench.home;
  const lastLine = () => readLastLine({ home, redact: (text) => text.replace("secret", "…") }, attempt);
  const tell = (growth: AttemptGrowth): void => void told.push(growth);
  const followed = createFollowedAttempts({ home, now: () => nowMs, tell, lastLine, lookMs: 5 });
  const attempt = { runId, stage: "design", attempt: 1 };
  followed.note(attempt);
  const { output } = attemptFiles(home, runId, "design", 1);
  appendFileSync(output, "more\n");
  await until("the growth is told", async () => (told.length > 0 ? true : undefined));
  appendFileSync(output, "and more\n");
  await until("the next growth is told", async () => (told.length > 1 ? true : undefined));
  expect(told).toHaveLength(2);
  expect(told[1]?.output).toBe((told[0]?.output ?? 0) + 9);
  expect(told.map(({ line }) => line)).toEqual([undefined, undefined]);
  // Who lists what works is told the line itself, without what must not be seen.
  followed.noteLine(attempt);
  appendFileSync(output, "a secret line\n");
  await until("its line is told", async () => (told.length > 2 ? true : undefined));
  expect(told.pop()?.line).toEqual({ text: "a … line", at: null });
  nowMs = 100_000;
  await new Promise((resolve) => setTimeout(resolve, 50));
  appendFileSync(output, "unseen\n");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toHaveLength(2);
  followed.close();
});
