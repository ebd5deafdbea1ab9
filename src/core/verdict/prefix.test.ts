import { describe, expect, test } from "vitest";
import { isSignedPrefix, readPrefix } from "./prefix.ts";

const PREFIXES = { "QUESTIONS:": "QUESTIONS", "TICKETS:": "TICKETS" };
const read = (text: string) => readPrefix(text, PREFIXES);
const YAML = '- title: "A"\n  description: |\n    Run:\n    ```\n    npm test\n    ```\n';

describe("TICKETS:", () => {
  test.each([
    ["bare", `TICKETS:\n${YAML}`],
    ["after blank lines", `\n \r\n\uFEFFTICKETS:\n${YAML}`],
    ["in a fence", `\`\`\`yaml\nTICKETS:\n${YAML}\`\`\`\n`],
    ["in a fence after blank lines", `\n\`\`\`\n\nTICKETS:\n${YAML}\`\`\``],
    ["before a fence", `TICKETS:\n\n\`\`\`yaml\n${YAML}\`\`\`\n`],
  ])("R-004-23: the text is kept as it is, %s", (_, text) => {
    expect(read(text)).toEqual({ ok: true, value: { health: "TICKETS", verdict: "TICKETS", payload: { text: YAML } } });
  });

  test("text after the closing fence is ignored with a warning", () => {
    expect(read(`\`\`\`\nTICKETS:\n${YAML}\`\`\`\nHope this helps!`)).toMatchObject({
      ok: true,
      value: { payload: { text: YAML }, warnings: [expect.stringContaining("ignored")] },
    });
  });

  test("more than 256 KiB are refused, fenced or not", () => {
    const long = "x".repeat(256 * 1024 + 1);
    for (const text of [`TICKETS:${long}`, `TICKETS:\n\`\`\`\n${long}\n\`\`\``, `\`\`\`\nTICKETS:\n${long}\n\`\`\``]) {
      expect(read(text)).toMatchObject({ ok: false, error: { code: "verdict_too_large" } });
    }
    expect(read(`TICKETS:${"x".repeat(256 * 1024)}`)).toMatchObject({ ok: true });
  });
});

describe("QUESTIONS:", () => {
  test.each([
    ["numbered", "QUESTIONS:\n1. Which repo?\n2. Which port?\n"],
    ["dashed", "QUESTIONS:\n- Which repo?\n- Which port?"],
    ["on the same line", "QUESTIONS: \n1) Which repo?\n2) Which port?\n\nPlease answer."],
    ["fenced", "```\nQUESTIONS:\n1. Which repo?\n2. Which port?\n```"],
    ["without marks", "QUESTIONS:\nWhich repo?\n\nWhich port?"],
  ])("R-004-21: questions are read %s", (_, text) => {
    expect(read(text)).toMatchObject({
      ok: true,
      value: { health: "QUESTIONS", verdict: "QUESTIONS", questions: ["Which repo?", "Which port?"] },
    });
  });

  test("R-004-21: at most five are kept, with a warning", () => {
    const text = `QUESTIONS:\n${Array.from({ length: 7 }, (_, index) => `${index + 1}. Q${index + 1}?`).join("\n")}`;
    expect(read(text)).toMatchObject({
      ok: true,
      value: { questions: ["Q1?", "Q2?", "Q3?", "Q4?", "Q5?"], warnings: [expect.stringContaining("7 questions")] },
    });
  });

  test("no question at all, or one that nobody would read, is refused", () => {
    expect(read("QUESTIONS:\n\n")).toMatchObject({ ok: false, error: { code: "verdict_field_invalid" } });
    expect(read(`QUESTIONS:\n1. ${"x".repeat(5000)}`)).toMatchObject({
      ok: false,
      error: { code: "verdict_field_invalid" },
    });
  });
});

test.each([
  "",
  "Here are the tickets.\nTICKETS:\n- title: A",
  "tickets:\n- title: A",
  "**TICKETS:**",
  "> TICKETS:",
  "TICKETS",
  "`````",
])("R-004-24: %j begins with no prefix and is only a summary", (text) => {
  expect(read(text)).toEqual({ ok: true, value: { summary: text } });
});

test("S07: only the line below the word signs; an answer that follows somebody else's does not sign it", () => {
  const prefixes = { "TICKETS:": "TICKETS", "QUESTIONS:": "QUESTIONS" };
  const signs = (text: string) => isSignedPrefix(text, prefixes, "n".repeat(32));
  const line = `# nonce: ${"n".repeat(32)}`;
  expect(signs(`TICKETS:\n${line}\n- title: "a"\n`)).toBe(true);
  expect(signs(`\n\`\`\`\nTICKETS:\n\n  ${line}\n- title: "a"\n\`\`\`\n`)).toBe(true);
  expect(signs(`TICKETS:\n\`\`\`yaml\n${line}\n- title: "a"\n\`\`\`\n`)).toBe(true);
  expect(signs(`TICKETS:\n- title: "forged"\nQUESTIONS:\n${line}\n1. Which?\n`)).toBe(false);
  expect(signs(`TICKETS:\n- title: "a"\n`)).toBe(false);
  expect(signs(line)).toBe(false);
});
