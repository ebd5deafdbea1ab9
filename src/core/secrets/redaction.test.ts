import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { looksSecret } from "../check/secrets.ts";
import { createRedaction } from "./redaction.ts";

const KEY = "sk-ant-api03-Zm9vYmFyCanary_0123456789-abcdefghijklmnopqrstuvwxyzABCDEF";
const PASSWORD = 'p"a/s\\s <w>örd&+7';
const SECRETS = [
  { name: "ANTHROPIC_API_KEY", value: KEY },
  { name: "DB_PASSWORD2", value: PASSWORD },
];
const redaction = createRedaction(SECRETS);
const shapes = createRedaction([]);

describe("S09: a known value is taken out", () => {
  test.each([
    ["as it is", `key: ${PASSWORD}!`, "key: [REDACTED:db_password2]!"],
    ["in JSON", JSON.stringify({ a: PASSWORD }), '{"a":"[REDACTED:db_password2]"}'],
    [
      "in JSON inside of JSON",
      JSON.stringify({ line: JSON.stringify({ a: PASSWORD }) }),
      String.raw`{"line":"{\"a\":\"[REDACTED:db_password2]\"}"}`,
    ],
    ["with escaped slashes", JSON.stringify(PASSWORD).replaceAll("/", "\\/"), '"[REDACTED:db_password2]"'],
    ["in ASCII JSON", JSON.stringify(PASSWORD).replace("ö", String.raw`\u00f6`), '"[REDACTED:db_password2]"'],
    [
      "in JSON for HTML",
      JSON.stringify(PASSWORD).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
      '"[REDACTED:db_password2]"',
    ],
    ["in a URL", `http://x/?p=${encodeURIComponent(PASSWORD)}&q`, "http://x/?p=[REDACTED:db_password2]&q"],
    ["in a form", String(new URLSearchParams({ p: PASSWORD, q: "1" })), "p=[REDACTED:db_password2]&q=1"],
    ["in hex", Buffer.from(PASSWORD).toString("hex"), "[REDACTED:db_password2]"],
    [
      "beside another one",
      `${KEY} ${PASSWORD}${KEY}`,
      "[REDACTED:anthropic_api_key] [REDACTED:db_password2][REDACTED:anthropic_api_key]",
    ],
    [
      "between letters that are no ASCII",
      `äöü${KEY} 🙂 ${PASSWORD}é`,
      "äöü[REDACTED:anthropic_api_key] 🙂 [REDACTED:db_password2]é",
    ],
  ])("%s", (_, text, expected) => {
    expect(redaction.text(text)).toBe(expected);
  });

  test.each([0, 1, 2, 3, 4, 5])("in base64 with %d bytes before it, in both alphabets", (before) => {
    const text = Buffer.from(`${"x".repeat(before)}${KEY} and more`);
    for (const encoding of ["base64", "base64url"] as const) {
      const redacted = redaction.text(`data ${text.toString(encoding)}`);
      expect(redacted).toContain("[REDACTED:anthropic_api_key]");
      const left = Buffer.from(redacted.split("[REDACTED")[0]?.slice(5) ?? "", "base64").toString();
      expect(left.replaceAll("x", "").length).toBeLessThanOrEqual(1);
    }
  });

  test.each(["\n", "\r\n", "\\n", "\\\\n"])("in base64 that was broken into lines by %j", (lineBreak) => {
    const lines =
      Buffer.from(`${KEY}\n`)
        .toString("base64")
        .match(/.{1,76}/gu) ?? [];
    expect(lines.length).toBeGreaterThan(1);
    const redacted = redaction.text(lines.join(lineBreak));
    expect(redacted).toMatch(/^\[REDACTED:anthropic_api_key\].{0,4}$/u);
  });

  test("wherever it begins inside of something else that is taken out", () => {
    const inside = createRedaction([{ name: "odd", value: "abc.def@ghi!jkl" }]);
    const redacted = inside.text(`ghp_${"a1".repeat(10)}abc.def@ghi!jkl rest`);
    expect(redacted).toBe("[REDACTED:github_token] rest");
    expect(createRedaction([{ name: "s", value: "ab1ab1ab" }]).text("-ab1ab1ab1ab-")).toBe("-[REDACTED:s]-");
  });

  test("line by line where it has several lines", () => {
    const value = `first-line-of-the-value\n  second-line-of-the-value\nshort\n`;
    const text = createRedaction([{ name: "pair", value }]).text(
      "1 first-line-of-the-value\n2 second-line-of-the-value\nshort",
    );
    expect(text).toBe("1 [REDACTED:pair]\n2 [REDACTED:pair]\nshort");
  });

  test("also where it is longer than what is held back at once", () => {
    const value = Array.from({ length: 3000 }, (_, at) => `v${at}`).join("");
    expect(createRedaction([{ name: "long", value }]).text(`(${value})`)).toMatch(/^\((?:\[REDACTED:long\])+\)$/u);
  });

  test("but not where it is too short or everybody's word", () => {
    const common = createRedaction(
      ["true", "12345", "password", "  disabled ", "xxxxxxxx", ""].map((value) => ({ name: "TOKEN", value })),
    );
    const text = "true 12345 password disabled xxxxxxxx";
    expect(common.text(text)).toBe(text);
  });
});

const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${`${"MIIEabc+/9".repeat(6)}AAAA\n`.repeat(12)}Zm9v==\n-----END RSA PRIVATE KEY-----`;
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.${"s1G-_n".repeat(8)}`;

describe("S09: what has the shape of a key is taken out", () => {
  test.each([
    ["anthropic_key", `sk-ant-${"abCd".repeat(10)}`],
    ["api_key", `sk-proj-${"a1B2_c3-".repeat(10)}`],
    ["api_key", `sk-${"0123456789abcdef".repeat(2)}`],
    ["github_token", `ghp_${"x9".repeat(18)}`],
    ["github_token", `ghs_${"x9".repeat(18)}`],
    ["github_token", `github_pat_${"11ABC_".repeat(8)}`],
    ["aws_key_id", "AKIAIOSFODNN7EXAMPLE"],
    ["aws_key_id", "ASIAIOSFODNN7EXAMPLE"],
    ["google_key", `AIza${"Sy-_9".repeat(7)}`],
    ["slack_token", "xoxb-123456789012-abcdefABCDEF"],
    ["gitlab_token", "glpat-abcdefghij_KLMNOP12"],
    ["npm_token", `npm_${"aB3".repeat(12)}`],
    ["passrail_token", `pr_at_${"aB3_".repeat(10)}`],
    ["passrail_token", `pr_op_${"aB3-".repeat(10)}`],
    ["jwt", JWT],
    ["private_key", PEM],
    ["private_key", PEM.replaceAll("\n", "\\n")],
    ["private_key", PEM.replaceAll("\n", "\r\n    12\t")],
    ["private_key", PEM.replaceAll("RSA ", "")],
  ])("%s", (kind, secret) => {
    const marker = `[REDACTED:${kind}]`;
    expect(shapes.text(secret)).toBe(marker);
    expect(shapes.text(`"${secret}", "${secret}".`)).toBe(`"${marker}", "${marker}".`);
    expect(shapes.text(`{"text":"one\\n${secret}\\ntwo"}`)).toBe(`{"text":"one\\n${marker}\\ntwo"}`);
    expect(shapes.text(`\u001b[1;32m${secret}\u001b[0m`)).toBe(`\u001b[1;32m${marker}\u001b[0m`);
    expect(looksSecret(`a ${secret} b`)).toBe(true);
  });

  test("a password in a URL; where it leads stays readable", () => {
    expect(shapes.text("postgres://me:hunter2@db/x and redis://:pass@h")).toBe(
      "postgres[REDACTED:url_password]@db/x and redis[REDACTED:url_password]@h",
    );
  });

  test("a private key whose end is missing", () => {
    const cut = PEM.slice(0, 400);
    expect(shapes.text(`{"key":"${cut.replaceAll("\n", "\\n")}"}`)).toBe('{"key":"[REDACTED:private_key]"}');
    expect(shapes.text(`${cut}\n\nIt goes on with words. ${"And more words. ".repeat(40)}`)).toMatch(
      /^\[REDACTED:private_key\][\s\S]{0,80}It goes on with words\./u,
    );
  });

  test.each([
    "task-management-for-everybody-2",
    "class='sk-folding-cube sk-cube1 sk-child-of-the-cube-2'",
    "npm_config_registry=https://x npm_lifecycle_event",
    "https://localhost:3000/a@b http://a.b/c:d@e git@github.com:a/b.git",
    'if (text.includes("-----BEGIN PRIVATE KEY-----")) return "a key";',
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "--------------------------------------------------------",
    "eyJhbGciOiJIUzI1NiJ9 is only a header, and so is eyJh.eyJh.x",
    "AKIA is a prefix; ghp_ too; sk-ant- too; [REDACTED:api_key]",
    "e5b7e8c1-3f0a-4a52-9a10-7f2f4f1c2b11 da39a3ee5e6b4b0d3255bfef95601890afd80709",
  ])("but not %j", (text) => {
    expect(shapes.text(text)).toBe(text);
  });
});

test("a text without secrets is returned as it is, whatever is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
      expect(redaction.text(text)).toBe(text);
    }),
  );
});

test("nothing but the secrets changes", () => {
  const plain = fc.string({ unit: "binary", maxLength: 20 }).map((text) => `${text} `);
  const parts = fc.array(fc.oneof(plain, fc.constantFrom(KEY, PASSWORD)), { maxLength: 12 });
  fc.assert(
    fc.property(parts, (list) => {
      const isSecret = (part: string): boolean => part === KEY || part === PASSWORD;
      const before = list.map((part) => (isSecret(part) ? `"${part}"` : part)).join("");
      const marked = (part: string): string => `"[REDACTED:${part === KEY ? "anthropic_api_key" : "db_password2"}]"`;
      expect(redaction.text(before)).toBe(list.map((part) => (isSecret(part) ? marked(part) : part)).join(""));
    }),
  );
});

test.each([
  "-",
  "sk-",
  "sk-ant-",
  "eyJ",
  "\\neyJaaaaaaaaaa.",
  "AKIA",
  "AIza",
  "ghp_",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY-----",
  `-----BEGIN PRIVATE KEY-----${"A".repeat(31)} `,
  `-----BEGIN PRIVATE KEY-----${"A".repeat(64)}\n-----END `,
  "://a:",
  `://a${":".repeat(300)}`,
  KEY.slice(0, -1),
  Buffer.from(KEY).toString("base64").slice(0, 80),
])("S15: 10 MB of %j are read in linear time", (piece) => {
  const text = piece.repeat(Math.ceil(10_000_000 / piece.length));
  const before = process.cpuUsage();
  redaction.text(text);
  // Below 200 ms on an idle machine; the bound allows for a busy one but not for anything quadratic.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
});
