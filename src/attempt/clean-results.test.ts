import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRedaction } from "../core/secrets/redaction.ts";
import { type AttemptFiles, attemptFiles, channelFiles, openAttempt } from "./attempt-files.ts";
import { keepResults } from "./clean-results.ts";

const KEY = `sk-ant-${"abC1".repeat(10)}`;
const { text: redact } = createRedaction([]);
let dir: string;
let files: AttemptFiles;
/** Where the results are when the attempt has ended. */
let kept: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-clean-"));
  const record = attemptFiles(dir, "r1", "qa", 1);
  files = channelFiles(record, "abc");
  kept = record.result;
  await openAttempt(files);
});
afterEach(() => rmSync(dir, { recursive: true }));

test("S09: a handoff file holds no key on the disk either; other files stay as they are", async () => {
  writeFileSync(join(files.result, "handoff.md"), `# Done\nkey ${KEY}\n`);
  writeFileSync(join(files.result, "verdict.json"), `{"verdict":"SHIP","note":"\\u0073${KEY.slice(1)}"}`);
  writeFileSync(join(files.result, "plain.txt"), "nothing here\n");
  await keepResults(files, redact);
  expect(readFileSync(join(kept, "handoff.md"), "utf8")).toBe("# Done\nkey [REDACTED:anthropic_key]\n");
  expect(readFileSync(join(kept, "verdict.json"), "utf8")).toBe('{"verdict":"SHIP","note":"[REDACTED:anthropic_key]"}');
  expect(readFileSync(join(kept, "plain.txt"), "utf8")).toBe("nothing here\n");
});

test("S13: a person's file behind a link is not touched, and one that is too large is not kept", async () => {
  const own = join(dir, "own.txt");
  writeFileSync(own, KEY);
  symlinkSync(own, join(files.result, "link.md"));
  linkSync(own, join(files.result, "hard.md"));
  writeFileSync(join(files.result, "huge.md"), KEY);
  truncateSync(join(files.result, "huge.md"), 20_000_000);
  await keepResults(files, redact);
  expect(readFileSync(own, "utf8")).toBe(KEY);
  expect(readFileSync(join(kept, "hard.md"), "utf8")).toBe("[REDACTED:anthropic_key]");
  expect(readFileSync(join(kept, "huge.md"), "utf8")).toMatch(/^\[passrail: this file had more than/u);
});

test("an attempt without results is fine", async () => {
  await keepResults(files, redact);
  await keepResults(files, redact);
  expect(readdirSync(kept)).toEqual([]);
});

test("S13: a channel that became a link is neither read, cleaned nor kept", async () => {
  const own = mkdtempSync(join(tmpdir(), "passrail-own-"));
  writeFileSync(join(own, "notes.md"), KEY);
  rmSync(files.result, { recursive: true });
  symlinkSync(own, files.result);
  await keepResults(files, redact);
  expect(readFileSync(join(own, "notes.md"), "utf8")).toBe(KEY);
  expect(existsSync(kept)).toBe(false);
  rmSync(own, { recursive: true });
});

test("S09: results that cannot be cleaned are not kept", async () => {
  writeFileSync(join(files.result, "handoff.md"), KEY);
  await keepResults(files, () => {
    throw new Error("cannot read it");
  });
  expect(existsSync(kept)).toBe(false);
});
