import { describe, expect, test } from "vitest";
import { eventType, webhookMessage } from "./message.ts";
import type { Notice } from "./notify.ts";
import { GATE } from "./receiver.testsuite.ts";

const at = "2026-05-01T12:00:00.000Z";
const link = "http://127.0.0.1:4000/inbox/r1.2";
const url = "https://hooks.example.test/x";
const bodyOf = (format: "standard" | "slack" | "ntfy", notice: Notice, to = url, target: string | null = link) =>
  JSON.parse(webhookMessage({ format, url: to }, notice, { at, link: target }).body) as Record<string, unknown>;

test.each([
  ["gate", "run.gate.requested"],
  ["question", "run.question.asked"],
  ["escalation", "run.escalation.raised"],
  ["completed", "run.completed"],
  ["budget.low", "run.budget.neared"],
  ["ready-for-review", "run.notice.ready_for_review"],
  ["gate.requested", "run.notice.gate.requested"],
  ["constructor", "run.notice.constructor"],
])("the event %s is called %s", (event, type) => {
  expect(eventType(event)).toBe(type);
});

test("standard: type, time and the facts of the notice", () => {
  expect(bodyOf("standard", GATE)).toEqual({
    type: "run.gate.requested",
    timestamp: at,
    data: { run_id: "r1", to: "owner", event: "gate", item: "r1.2", text: "F-1: Ship waits for owner", link },
  });
});

describe("slack", () => {
  test("text with a link, and nothing that an agent wrote is markup", () => {
    const body = bodyOf("slack", { ...GATE, text: "<!channel> & <https://evil.test|our page>" });
    expect(body["text"]).toBe(`&lt;!channel&gt; &amp; &lt;https://evil.test|our page&gt;\n<${link}>`);
    expect(body).toMatchObject({ unfurl_links: false, unfurl_media: false });
  });
});

describe("ntfy", () => {
  test("goes to the root with the topic in the body; what waits for a person is urgent", () => {
    const message = webhookMessage({ format: "ntfy", url: "https://ntfy.example.test/my_topic" }, GATE, { at, link });
    expect(message.url).toBe("https://ntfy.example.test/");
    expect(JSON.parse(message.body)).toEqual({
      topic: "my_topic",
      title: "Passrail: gate, waiting for owner",
      message: "F-1: Ship waits for owner",
      priority: 4,
      tags: ["run.gate.requested"],
      click: link,
    });
  });

  test("news without a question are not", () => {
    const news: Notice = { ...GATE, event: "completed", item: null };
    const body = bodyOf("ntfy", news, "https://ntfy.example.test/t", null);
    expect(body).toMatchObject({ priority: 3, title: "Passrail: completed" });
    expect(body).not.toHaveProperty("click");
  });
});

test.each(["standard", "slack", "ntfy"] as const)("%s: the largest notice stays below 20 kB", (format) => {
  for (const char of ["&", '"', "€", "\u0001", "\ud800", "😀", "\n"]) {
    const long = char.repeat(100_000);
    const notice = { ...GATE, to: long, event: long, text: long };
    const { body } = webhookMessage({ format, url: "https://x.test/t" }, notice, {
      at,
      link: "https://x.test/".padEnd(5000),
    });
    expect(Buffer.byteLength(body)).toBeLessThan(20_000);
  }
});

test("S16: colours, control and reordering characters do not get out", () => {
  const body = bodyOf("standard", { ...GATE, text: "\u001b[31mred\u001b[0m \u001b]0;x\u0007 \u202eevil\r\nline\tend" });
  expect(body["data"]).toMatchObject({ text: "red \ufffd]0;x\ufffd \ufffdevil\nline\tend" });
});
