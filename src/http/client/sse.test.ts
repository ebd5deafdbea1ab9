import { expect, test } from "vitest";
import { createSseReader } from "./sse.ts";

test("messages are read wherever the text is cut", () => {
  const text =
    ": hi\nretry: 2000\nid: 7\n\nid: 8\nevent: run.created\ndata: {\ndata: }\n\ndata:x\r\n\r\nnonsense\nid: 9\n\n";
  const whole = [
    { id: "8", name: "run.created", data: "{\n}" },
    { id: "8", name: "message", data: "x" },
  ];
  for (let size = 1; size <= text.length; size += 1) {
    const reader = createSseReader("3");
    const seen = [];
    for (let at = 0; at < text.length; at += size) seen.push(...reader.read(text.slice(at, at + size)));
    expect(seen).toEqual(whole);
    expect([reader.lastId(), reader.retryMs()]).toEqual(["9", 2000]);
  }
});

test("what was cut off within a message does not count as seen", () => {
  const reader = createSseReader("3");
  expect(reader.read("id: 4\nevent: run.created\ndata: {")).toEqual([]);
  expect(reader.lastId()).toBe("3");
});

test("a message without end is refused before it fills the memory", () => {
  const reader = createSseReader();
  const piece = `data: ${"x".repeat(1024 * 1024)}\n`;
  expect(() => {
    for (let count = 0; count < 20; count += 1) reader.read(piece);
  }).toThrow("too large");
});
