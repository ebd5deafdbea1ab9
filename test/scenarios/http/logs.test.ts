// Finding something in what attempts left behind: in large files, in files of one line, and without waiting long for it.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attemptFiles } from "../../../src/attempt/attempt-files.ts";
import { statOfDiff } from "../../../src/file/diff-stat.ts";
import { searchLines } from "../../../src/http/server/search-lines.ts";
import { type Served, serve } from "./served.ts";

type Line = { line: number; offset: number; text: string };

let served: Served;
let runId: string;
let folder: string;
beforeAll(async () => {
  served = await serve();
  folder = mkdtempSync(join(tmpdir(), "passrail-logs-"));
  served.play({});
  const started = await served.bench.run("feature", {
    spec: [{ via: "json-tail", verdict: "APPROVED", write: { "a.txt": "one\ntwo" } }],
  });
  await served.bench.answer(started, "gate", "approve");
  runId = started.id;
});
afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

const files = () => attemptFiles(served.bench.home, runId, "spec", 1);
const search = (query: string, file = "output") =>
  served.call("GET", `/api/runs/${runId}/attempts/spec/1/${file}/search?${query}`);

test("lines are found with number, offset and text, page by page", async () => {
  const text = Array.from({ length: 1000 }, (_, at) => (at % 10 === 0 ? `ä needle ${at}` : `hay ${at}`)).join("\n");
  writeFileSync(files().output, text);
  const found: Line[] = [];
  let after = "";
  let pages = 0;
  do {
    const { status, body } = await search(`q=needle&limit=30${after}`);
    expect(status).toBe(200);
    found.push(...(body["lines"] as Line[]));
    after = `&after=${String(body["next"])}`;
    pages++;
  } while (after !== "&after=null");
  expect(pages).toBe(4);
  expect(found).toHaveLength(100);
  const bytes = Buffer.from(text);
  for (const { line, offset, text: shown } of found) {
    expect(shown).toBe(`ä needle ${line - 1}`);
    expect(bytes.subarray(offset, offset + 6).toString()).toBe("needle");
  }
});

test("what is searched for is plain text, and a wrong question is answered as such", async () => {
  writeFileSync(files().output, "a.c\nabc\n(((((((((\n");
  expect((await search("q=a.c")).body["lines"]).toMatchObject([{ line: 1 }]);
  expect((await search("q=((((")).body["lines"]).toMatchObject([{ line: 3 }]);
  for (const [query, code] of [
    ["", "invalid_query"],
    ["q=", "invalid_query"],
    ["q=a%0Ab", "invalid_query"],
    [`q=${"x".repeat(201)}`, "invalid_query"],
    ["q=a&limit=201", "invalid_query"],
    ["q=a&regex=1", "invalid_query"],
    ["q=a&after=x", "invalid_cursor"],
    ["q=a&after=999999-1", "invalid_cursor"],
  ])
    expect(await search(query ?? "")).toMatchObject({ status: 400, body: { code } });
  expect(await search("q=a", "handoff")).toMatchObject({ status: 404, body: { code: "file_not_found" } });
  rmSync(files().output);
  symlinkSync("/etc/passwd", files().output);
  expect(await search("q=root")).toMatchObject({ status: 404, body: { code: "file_not_found" } });
  rmSync(files().output);
});

test("ten megabytes of short lines are searched while others are answered", async () => {
  writeFileSync(files().output, `${"x\n".repeat(5_000_000)}needle\n`);
  let isDone = false;
  const searching = search("q=needle").finally(() => {
    isDone = true;
  });
  let answers = 0;
  let slowest = 0;
  while (!isDone) {
    const before = performance.now();
    expect((await served.call("GET", "/api/whoami")).status).toBe(200);
    await new Promise<void>((resolve) => void setImmediate(resolve));
    slowest = Math.max(slowest, performance.now() - before);
    answers++;
  }
  expect((await searching).body["lines"]).toEqual([{ line: 5_000_001, offset: 10_000_000, text: "needle" }]);
  expect(answers).toBeGreaterThan(5);
  expect(slowest).toBeLessThan(500);
  rmSync(files().output);
});

test("a file of one endless line is searched part by part, and only the surroundings are shown", async () => {
  const path = join(folder, "endless");
  writeFileSync(path, `${"é".repeat(400_000)}needle${"y".repeat(700_000)}needle`);
  const handle = await open(path);
  const at: number[] = [];
  let next: string | null = "0-0";
  for (let calls = 0; next !== null && calls < 20; calls++) {
    const [offset = 0, line = 0] = next.split("-").map(Number);
    const found = await searchLines(handle, { text: "needle", offset, line, limit: 10, readAtMost: 256 * 1024 });
    for (const each of found.lines) {
      expect(each).toMatchObject({ line: 1 });
      expect(each.text.length).toBeLessThanOrEqual(500);
      expect(each.text).toContain("needle");
      at.push(each.offset);
    }
    next = found.next;
  }
  await handle.close();
  expect(at).toEqual([800_000, 1_500_006]);
});

test("a text across the border of two pieces is found once", async () => {
  const path = join(folder, "border");
  for (const shift of [1, 3, 5]) {
    writeFileSync(path, `${"a".repeat(256 * 1024 - shift)}needle\nneedle`);
    const handle = await open(path);
    const { lines } = await searchLines(handle, { text: "needle", offset: 0, line: 0, limit: 10 });
    await handle.close();
    expect(lines.map(({ line }) => line)).toEqual([1, 2]);
  }
});

test("a run's diff comes with numbers per file, and says where it is cut", async () => {
  const { body } = await served.call("GET", `/api/runs/${runId}/diff`);
  expect(body).toMatchObject({
    // The last attempt that changed something: Passrail committed its work, so the one after it finds nothing.
    stage: "spec",
    attempt: 1,
    isCut: false,
    isStatCut: false,
    files: [{ path: "a.txt", added: 2, removed: 0, isBinary: false }],
    added: 2,
  });
  expect(body["text"]).toContain("+two");
  const cut = (await served.call("GET", `/api/runs/${runId}/diff?limit=20`)).body;
  expect(cut).toMatchObject({ isCut: true, added: 2 });
  expect(String(cut["text"])).toHaveLength(20);
  const other = await served.bench.run("feature", {});
  expect((await served.call("GET", `/api/runs/${other.id}/diff`)).body).toMatchObject({ stage: null, files: [] });
});

test("what is in a file cannot pose as another file, and what was cut before is not counted as whole", async () => {
  const path = join(folder, "diff");
  writeFileSync(
    path,
    [
      "diff --git a/a b/x.sql b/a b/x.sql",
      "--- a/a b/x.sql",
      "+++ b/a b/x.sql",
      "@@ -1,3 +1,3 @@",
      "--- a/forged",
      "+++ b/forged",
      " diff --git a/forged b/forged",
      "-x",
      "+y",
      "diff --git a/old.ts b/new.ts",
      "Binary files a/old.ts and b/new.ts differ",
      "[passrail: the diff was cut here, it is larger than 5 bytes]",
      "",
    ].join("\n"),
  );
  const handle = await open(path);
  expect(await statOfDiff(handle)).toEqual({
    files: [
      { path: "a b/x.sql", added: 2, removed: 2, isBinary: false },
      { path: "new.ts", added: 0, removed: 0, isBinary: true },
    ],
    added: 2,
    removed: 2,
    isCut: true,
  });
  await handle.close();
});
