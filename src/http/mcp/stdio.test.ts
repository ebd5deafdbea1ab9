import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Tools } from "../../runner/desk/tools.ts";
import { serveStdio } from "./stdio.ts";

/** Tools, one of which waits until its call is aborted. */
function open(graceMs = 0) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const given: string[] = [];
  let waiting = 0;
  const tools: Tools = {
    list: () => [],
    async call(name, _args, { signal }) {
      if (name !== "wait") return { content: [], isError: false };
      waiting += 1;
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      waiting -= 1;
      given.push("given up");
      return { content: [], isError: false };
    },
  };
  let text = "";
  output.on("data", (chunk) => {
    text += String(chunk);
  });
  const over = serveStdio({ input, output, tools, graceMs });
  const send = (message: object) => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ids = () =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { id: unknown }).id);
  const wait = (id: number) => send({ id, method: "tools/call", params: { name: "wait" } });
  return { input, over, send, wait, ids, text: () => text, waiting: () => waiting };
}

test("calls go on side by side, and one that is given up gets no answer", async () => {
  const { send, wait, ids, waiting, input, over } = open();
  wait(1);
  wait(2);
  send({ id: 3, method: "ping" });
  await expect.poll(ids).toEqual([3]);
  expect(waiting()).toBe(2);
  send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await expect.poll(waiting).toBe(1);
  send({ id: 4, method: "ping" });
  await expect.poll(ids).toEqual([3, 4]);
  input.end();
  await over;
  await expect.poll(waiting).toBe(0);
  expect(ids()).toEqual([3, 4]);
});

test("more calls than may run at once are refused, and there is room again when one has ended", async () => {
  const { send, wait, ids, text, waiting, input, over } = open();
  for (let id = 1; id <= 33; id += 1) wait(id);
  await expect.poll(ids).toEqual([33]);
  expect(text()).toContain("Too many calls");
  send({ method: "notifications/cancelled", params: { requestId: 7 } });
  await expect.poll(waiting).toBe(31);
  send({ id: 34, method: "ping" });
  await expect.poll(ids).toEqual([33, 34]);
  input.end();
  await over;
});

test("lines are put together wherever they are cut, and a batch is for those who may send one", async () => {
  const { send, ids, text, input, over } = open();
  const line = Buffer.from('{"jsonrpc":"2.0","id":"ä","method":"ping"}\n');
  for (const byte of line) input.write(Buffer.from([byte]));
  await expect.poll(ids).toEqual(["ä"]);
  const batch: JsonObject[] = [{ jsonrpc: "2.0", id: 5, method: "ping" }];
  input.write(`${JSON.stringify(batch)}\n`);
  await expect.poll(text).toContain('[{"jsonrpc":"2.0","id":5');
  send({ id: 6, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  await expect.poll(text).toContain('"id":6');
  input.write(`${JSON.stringify(batch)}\n`);
  await expect.poll(text).toContain("Batches are not part");
  input.end();
  await over;
});

test("what was asked for before the input ended is still answered", async () => {
  const { send, ids, input, over } = open(10_000);
  for (let id = 1; id <= 5; id += 1) send({ id, method: "tools/call", params: { name: "short" } });
  input.end();
  await over;
  expect(ids()).toEqual([1, 2, 3, 4, 5]);
});
