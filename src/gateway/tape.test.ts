import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { openTape, readTape, type NewExchange, type Tape } from "./tape.ts";

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-tape-"));
  path = join(dir, "tape.jsonl.zst");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const exchange = (request: string, response = "{}"): NewExchange => ({
  at: "2026-01-01T00:00:00.000Z",
  ms: 5,
  route: "anthropic",
  method: "POST",
  path: "/v1/messages",
  status: 200,
  headers: { "content-type": "application/json" },
  request,
  response,
});

function record(redact = (text: string): string => text): Tape {
  const onError = (error: Error): void => {
    throw error;
  };
  return openTape(path, { redact, onError, places: { workspace: "/work/one" } });
}

describe("the tape of an attempt", () => {
  test("every exchange is read as it was, in order, without secrets, by nobody else", async () => {
    const tape = record((text) => text.replaceAll("hunter2", "[REDACTED]"));
    tape.add(exchange("first hunter2", "answer hunter2"));
    tape.add(exchange("second"));
    await tape.close();
    const { exchanges: taped, places } = await readTape(path);
    expect(places).toEqual({ workspace: "/work/one" });
    expect(taped.map(({ number, request, response }) => [number, request, response])).toEqual([
      [1, "first [REDACTED]", "answer [REDACTED]"],
      [2, "second", "{}"],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("a conversation that repeats itself takes a fraction of its bytes", async () => {
    const tape = record();
    let said = "";
    let raw = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      said += Array.from({ length: 60 }, (_, at) => `line ${turn * 7919 + at * 104_729} of a file\n`).join("");
      raw += said.length + 2;
      tape.add(exchange(said));
    }
    await tape.close();
    expect(statSync(path).size / raw).toBeLessThan(0.1);
  });

  test("what was complete before a crash is read, and a changed line is not", async () => {
    const tape = record();
    tape.add(exchange("first"));
    tape.add(exchange("second"));
    const before = await until("both are on disk", async () => {
      const { exchanges: taped } = await readTape(path);
      return taped.length === 2 ? taped : undefined;
    });
    expect(before.map(({ request }) => request)).toEqual(["first", "second"]);
    await tape.close();
    writeFileSync(path, "no tape");
    expect(await readTape(path)).toEqual({ places: null, exchanges: [] });
  });

  test("a file that is there already is not taken over", () => {
    writeFileSync(path, "planted");
    expect(() => record()).toThrow(/EEXIST/u);
  });
});
