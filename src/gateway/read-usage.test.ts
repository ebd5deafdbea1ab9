import { describe, expect, test } from "vitest";
import { readUsage } from "./read-usage.ts";

const stream = (...parts: readonly object[]): string =>
  parts.map((part) => `event: x\ndata: ${JSON.stringify(part)}\n\n`).join("");

describe("what an answer used", () => {
  test("Anthropic tells the input first and the output last; cached tokens are a part of the input", () => {
    const body = stream(
      {
        type: "message_start",
        message: {
          model: "claude-sonnet-4-5",
          usage: { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 0, output_tokens: 1 },
        },
      },
      { type: "content_block_delta", delta: { text: "the word usage" } },
      { type: "message_delta", usage: { input_tokens: null, output_tokens: 20 } },
    );
    const { model, usage } = readUsage("anthropic", body);
    expect(model).toBe("claude-sonnet-4-5");
    expect(usage).toMatchObject({ inputTokens: 110, cachedTokens: 100, outputTokens: 20 });
    expect(usage?.usd).toBeCloseTo((10 * 3 + 100 * 0.3 + 20 * 15) / 1_000_000, 12);
  });

  test("an answer that was cut off has used its input", () => {
    const body = `${stream({ type: "message_start", message: { model: "m", usage: { input_tokens: 7, output_tokens: 1 } } })}data: {"type":"mess`;
    expect(readUsage("anthropic", body).usage).toMatchObject({ inputTokens: 7, outputTokens: 1 });
  });

  test("OpenAI's two ways count alike", () => {
    const usage = { input_tokens: 50, input_tokens_details: { cached_tokens: 30 }, output_tokens: 5 };
    const response = { type: "response.completed", response: { model: "gpt-5.5", usage } };
    const expected = { usd: null, inputTokens: 50, cachedTokens: 30, outputTokens: 5 };
    expect(readUsage("responses", stream(response))).toEqual({ model: "gpt-5.5", usage: expected });
    expect(readUsage("responses", JSON.stringify({ model: "gpt-5.5", usage })).usage).toEqual(expected);
    const chat = {
      model: "m",
      usage: { prompt_tokens: 50, prompt_tokens_details: { cached_tokens: 30 }, completion_tokens: 5 },
    };
    expect(readUsage("chat", `${stream({ choices: [], usage: null }, chat)}data: [DONE]\n\n`).usage).toEqual(expected);
    expect(readUsage("chat", JSON.stringify(chat)).usage).toEqual(expected);
  });

  test("Gemini's thoughts are output", () => {
    const part = {
      modelVersion: "gemini-2.5-pro",
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 3 },
    };
    expect(readUsage("gemini", stream(part))).toEqual({
      model: "gemini-2.5-pro",
      usage: { usd: null, inputTokens: 9, outputTokens: 7, cachedTokens: null },
    });
  });

  test("what is no answer tells nothing", () => {
    for (const body of ["", "<html>", "data: nonsense usage", "[]", "null", '{"usage":5}'])
      for (const api of ["anthropic", "responses", "chat", "gemini"] as const)
        expect(readUsage(api, body).usage).toBeNull();
  });
});
