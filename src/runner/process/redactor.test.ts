import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedaction } from "../../core/secrets/redaction.ts";
import { createStreamRedactor } from "./redactor.ts";

const KEY = "canary-Zm9vYmFy_0123456789";
const PASSWORD = 'p"a/s\\wörd&+7';
const PEM = `-----BEGIN PRIVATE KEY-----\n${`${"MIIEabc+/9".repeat(6)}\n`.repeat(8)}-----END PRIVATE KEY-----`;
const redaction = createRedaction([
  { name: "CANARY_TOKEN", value: KEY },
  { name: "DB_PASSWORD", value: PASSWORD },
]);
const SECRETS: readonly string[] = [
  KEY,
  PASSWORD,
  JSON.stringify(PASSWORD).slice(1, -1),
  encodeURIComponent(PASSWORD),
  Buffer.from(`${KEY}..`).toString("base64"),
  Buffer.from(`x${KEY}..`).toString("base64"),
  Buffer.from(`xy${KEY}..`).toString("base64"),
  `sk-ant-${"abC1".repeat(10)}`,
  `ghp_${"x9".repeat(18)}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.${"s1G-_n".repeat(8)}`,
  "postgres://me:hunter2@db",
  PEM,
  PEM.replaceAll("\n", "\\n"),
];

/** The output of the redactor for these pieces. */
function through(pieces: readonly Uint8Array[]): Buffer {
  const stream = createStreamRedactor(redaction);
  return Buffer.concat([...pieces.map((piece) => Buffer.from(stream.push(piece))), stream.flush()]);
}

const whole = (text: string): string => through([Buffer.from(text)]).toString();

describe("S09: a secret in a stream", () => {
  test.each(SECRETS)("%j is found whole, cut at every byte, and byte by byte", (secret) => {
    for (const text of [`before "${secret}" after\n`, secret, `${secret}${KEY}\n`]) {
      const bytes = Buffer.from(text);
      const expected = redaction.text(text);
      expect(expected).not.toContain(secret);
      expect(whole(text)).toBe(expected);
      for (let cut = 0; cut <= bytes.length; cut += 1)
        expect(through([bytes.subarray(0, cut), bytes.subarray(cut)]).toString()).toBe(expected);
      expect(through(Array.from(bytes, (byte) => Uint8Array.of(byte))).toString()).toBe(expected);
    }
  });

  test("in every order and every chunking: the same as in one piece", () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(...SECRETS),
        fc.constantFrom(...SECRETS).map((secret) => secret.slice(0, Math.ceil(secret.length / 2))),
        fc.constantFrom("sk-", "eyJ", "-----", "\n", "\\n", "://", "task-", '"}\n', "canary-"),
        fc.string({ unit: "binary", maxLength: 12 }),
      ),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(parts, fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 40 }), (list, sizes) => {
        const bytes = Buffer.from(list.join(""));
        const pieces: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + (turn % 2);
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(through(pieces).equals(through([bytes]))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test("bytes that belong to no secret pass as they are, also those that are no text", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), (pieces) => {
      expect(through(pieces).equals(Buffer.concat(pieces))).toBe(true);
    }),
  );
});

test("a piece in which nothing begins is handed on without a copy", () => {
  const piece = Buffer.from('{"type":"text"}\n');
  expect(createStreamRedactor(redaction).push(piece)).toBe(piece);
});

describe("only what could be the beginning of a secret is held back", () => {
  const pushed = (text: string): string =>
    Buffer.from(createStreamRedactor(redaction).push(Buffer.from(text))).toString();

  test.each([
    '{"type":"result","text":"disk sk- eyJ ghp_ canary-Zm9v"}\n',
    `{"key":"${SECRETS[7] ?? ""}"}\n`,
    `{"key":"${PEM.replaceAll("\n", "\\n")}"}\n`,
    '{"code":"-----BEGIN PRIVATE KEY-----"}\n',
    `{"code":"-----BEGIN PRIVATE KEY-----\\n${"A".repeat(64)}\\n"}\n`,
    "sk-ant-abc\n",
    "canary-Zm9vYm\n",
    "-----\n",
    "-----BEGIN \n",
    "https://localhost:3000\n",
  ])("a finished line comes out at once: %j", (line) => {
    expect(pushed(line)).toBe(redaction.text(line));
  });

  test.each([
    ["text canary-Zm9", "text "],
    ["text sk-ant-abc123", "text "],
    ["the end of it: s", "the end of it: "],
    ["task-do it!", "task-do it!"],
  ])("%j comes out as %j", (text, expected) => {
    expect(pushed(text)).toBe(expected);
  });

  test("a private key over many lines is held, but not for ever", () => {
    const stream = createStreamRedactor(redaction);
    const line = Buffer.from(`${"A".repeat(64)}\n`);
    let out = Buffer.from(stream.push(Buffer.from("-----BEGIN PRIVATE KEY-----\n"))).toString();
    let held = 0;
    for (; out === "" && held < 64 * 1024; held += line.length) out += Buffer.from(stream.push(line)).toString();
    expect(held).toBeLessThanOrEqual(17 * 1024);
    expect(out).toMatch(/^\[REDACTED:private_key\]/u);
  });
});
