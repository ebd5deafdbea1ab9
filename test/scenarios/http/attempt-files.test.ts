// Deps of files that an agent may have written: whole characters, nothing from elsewhere, nothing that blocks.

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Served, serve } from "./served.ts";

let served: Served;
let runId: string;
let folder: string;
beforeAll(async () => {
  served = await serve();
  const verdict = { via: "json-tail", verdict: "APPROVED" };
  const run = await served.bench.run("feature", {
    spec: [verdict],
    design: [{ via: "json-tail", verdict: "NONSENSE" }],
  });
  await served.bench.answer(run, "gate", "approve");
  runId = run.id;
  folder = join(served.bench.home, "runs", runId, "spec-1");
});
afterAll(() => served.close());

const read = (file: string, query = "") => served.call("GET", `/api/runs/${runId}/attempts/spec/1/${file}${query}`);

test("a log is read part by part and never in the middle of a character", async () => {
  const text = "aé€𝄞".repeat(50);
  writeFileSync(join(folder, "output.log"), text);
  let offset: number | null = 0;
  let joined = "";
  while (offset !== null) {
    const { status, body } = await read("output", `?offset=${offset}&limit=7`);
    expect(status).toBe(200);
    joined += String(body["text"]);
    offset = body["next"] as number | null;
  }
  expect(joined).toBe(text);
  expect(await read("output", `?offset=${Buffer.byteLength(text)}`)).toMatchObject({
    status: 200,
    body: { text: "", next: null },
  });
  expect(await read("output", "?offset=99999")).toMatchObject({ status: 400, body: { code: "invalid_query" } });
});

test("bytes that are no text come to an end all the same", async () => {
  writeFileSync(join(folder, "output.log"), Buffer.alloc(40, 0x80));
  let offset: number | null = 0;
  for (let parts = 0; offset !== null; parts++) {
    expect(parts).toBeLessThan(20);
    offset = (await read("output", `?offset=${offset}&limit=5`)).body["next"] as number | null;
  }
});

test("S12, S13: links, folders and pipes in the place of a file are not there", async () => {
  const secret = join(served.bench.dir, "secret");
  mkdirSync(secret);
  for (const name of ["verdict.json", "handoff.md"]) writeFileSync(join(secret, name), "secret");
  rmSync(join(folder, "result"), { recursive: true, force: true });
  symlinkSync(secret, join(folder, "result"));
  for (const file of ["verdict", "handoff"])
    expect(await read(file)).toMatchObject({ status: 404, body: { code: "file_not_found" } });
  rmSync(join(folder, "prompt.md"));
  symlinkSync(join(secret, "handoff.md"), join(folder, "prompt.md"));
  expect(await read("prompt")).toMatchObject({ status: 404 });
  rmSync(join(folder, "output.log"));
  execFileSync("mkfifo", [join(folder, "output.log")]);
  expect(await read("output")).toMatchObject({ status: 404 });
  rmSync(join(folder, "changes.diff"), { force: true });
  mkdirSync(join(folder, "changes.diff"));
  expect(await read("diff")).toMatchObject({ status: 404 });
});

test("the export of a run has what is really there, and nothing that a link leads to", async () => {
  const response = await served.app.request(`/api/runs/${runId}/export`, {
    headers: { host: "127.0.0.1:4321", authorization: `Bearer ${served.operator}` },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${runId}.passrail-run"`);
  const bytes = gunzipSync(Buffer.from(await response.arrayBuffer()));
  const header = JSON.parse(bytes.subarray(0, bytes.indexOf(0x0a)).toString()) as { entries: { path: string }[] };
  const paths = header.entries.map(({ path }) => path);
  expect(paths).toContain("history.jsonl");
  expect(paths).toContain("attempts/design-1/prompt.md");
  expect(paths.filter((path) => path.startsWith("attempts/spec-1/"))).not.toContain("attempts/spec-1/prompt.md");
  expect(await served.call("GET", "/api/runs/rffffffffff/export")).toMatchObject({ status: 404 });
});
