// A run as a file: exported in one state folder and imported in another, where it can be looked at and does nothing; and files of somebody
// who means harm.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importRun } from "../../../src/app/transfer/import-run.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { type Bench, happyFeature, openBench } from "../cli/bench.ts";

let bench: Bench;
let file: string;
let exported: unknown;
let there: Readonly<Record<string, string>>;
const SECRET = "tok-9f8e7d6c5b4a39281706f5e4d3c2b1a0";

const builds = {
  ...happyFeature,
  build: [
    {
      via: "json-tail",
      verdict: "COMPLETE",
      summary: `The key is ${SECRET}.`,
      write: { "a.txt": "1\n2\n" },
      commit: true,
    },
  ],
};

beforeAll(async () => {
  bench = openBench();
  file = join(bench.dir, "run.passrail-run");
  there = { PASSRAIL_HOME: join(bench.dir, "elsewhere") };
  const started = await bench.passrail([
    "run",
    "feature",
    "Add a",
    "--agent",
    `*=${bench.player(builds)}`,
    "--id",
    "AGI-7",
  ]);
  // The next gate comes after the work.
  const approved = await bench.passrail(["gate", "approve", "1.1"]);
  // Nobody knew at the time of the run that this is a secret.
  const env = { DEPLOY_TOKEN: SECRET };
  const made = await bench.passrail(["runs", "export", "1", "--out", file, "--json"], { env });
  if (started.code !== 3 || approved.code !== 3 || made.code !== 0)
    throw new Error([started, approved, made].map(({ err }) => err).join("\n"));
  exported = JSON.parse(made.out);
});
afterAll(() => bench.remove());

type Header = Record<string, unknown> & {
  readonly entries: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
};
type Unpacked = { readonly header: Header; readonly contents: ReadonlyMap<string, Buffer> };

function unpack(): Unpacked {
  const bytes = gunzipSync(readFileSync(file));
  const end = bytes.indexOf(0x0a);
  const header = JSON.parse(bytes.subarray(0, end).toString()) as Header;
  let at = end + 1;
  const contents = new Map(header.entries.map((entry) => [entry.path, bytes.subarray(at, (at += entry.bytes))]));
  return { header, contents };
}

/** A file of anybody's making: sizes and hashes fit what is in it, unless the change says otherwise. */
function pack(
  name: string,
  { header, contents }: Unpacked,
  change: (header: Header) => object = (same) => same,
): string {
  const entries = [...contents].map(([path, bytes]) => ({
    path,
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  }));
  const head = Buffer.from(`${JSON.stringify(change({ ...header, entries }))}\n`);
  const made = join(bench.dir, name);
  writeFileSync(made, gzipSync(Buffer.concat([head, ...contents.values()])));
  return made;
}

test("a file has the run without a secret that became known later, and is nobody else's to read", () => {
  expect(exported).toMatchObject({ number: 1, tapes: 0, without: [] });
  const { header, contents } = unpack();
  expect(header).toMatchObject({ passrail: "run", version: 1, commits: { branch: expect.any(String) } });
  const paths = [...contents.keys()];
  for (const part of ["history.jsonl", "flow.json", "attempts.json", "commits.pack", "attempts/build-1/prompt.md"])
    expect(paths).toContain(part);
  for (const [path, bytes] of contents) expect(`${path} ${bytes.toString("latin1")}`).not.toContain(SECRET);
  expect(contents.get("history.jsonl")?.toString()).toContain("[REDACTED:deploy_token]");
  expect(execFileSync("stat", ["-c", "%a", file], { encoding: "utf8" })).toBe("600\n");
});

test("on another machine the run can be looked at, and does nothing", async () => {
  const call = (...args: readonly string[]) => bench.passrail(args, { env: there });
  const imported = await call("runs", "import", file, "--json");
  expect({ code: imported.code, err: imported.err }).toMatchObject({ code: 0 });
  expect(JSON.parse(imported.out)).toMatchObject({ number: 1, tapes: 0 });

  const shown = JSON.parse((await call("runs", "show", "1", "--json")).out);
  expect(shown).toMatchObject({
    status: "canceled",
    imported: { was: "waiting", subject: "AGI-7" },
    end: { state: "imported", commits: 1 },
  });
  expect(shown.subject.id).toMatch(/^imported-/u);
  expect((await call("runs", "show", "1")).out).toMatch(/^imported\t.*\twaiting\tAGI-7$/mu);
  expect((await call("runs", "show", "1", "--attempt", "build", "--prompt")).code).toBe(0);
  expect((await call("runs", "logs", "1", "--stage", "build")).out).toContain("[REDACTED:deploy_token]");
  expect((await call("runs", "diff", "1")).out).toContain("+++ b/a.txt");
  expect((await call("verify")).code).toBe(0);
  // What it cost there is in nobody's books here.
  expect(JSON.parse((await call("cost", "--json")).out)).toMatchObject({ rows: [] });

  const again = await call("runs", "import", file);
  expect(again.code).toBe(0);
  for (const act of [
    ["merge", "1"],
    ["discard", "1"],
    ["runs", "retry", "1"],
    ["runs", "rerun", "1", "--from", "build"],
    ["runs", "resume", "1"],
  ])
    expect([act, (await call(...act)).code]).not.toEqual([act, 0]);
  expect(JSON.parse((await call("runs", "list", "--json")).out).runs).toHaveLength(1);
  expect((await call("runs", "export", "1", "--out", join(bench.dir, "again.passrail-run"))).code).toBe(0);
});

describe("a file of somebody who means harm changes nothing and is told in one line", () => {
  const home = (): string => join(bench.dir, "hostile");
  const changed = (path: string, bytes: Buffer): Unpacked => {
    const whole = unpack();
    return { header: whole.header, contents: new Map([...whole.contents, [path, bytes]]) };
  };
  const cases: readonly (readonly [string, string, () => string])[] = [
    ["a path that leads out", "import_broken", () => pack("out", changed("attempts/../../x", Buffer.from("x")))],
    ["an absolute path", "import_broken", () => pack("absolute", changed("/etc/x", Buffer.from("x")))],
    [
      "a file that no attempt has",
      "import_entry",
      () => pack("kind", changed("attempts/build-1/hook.sh", Buffer.from("x"))),
    ],
    [
      "another place in the run's folder",
      "import_entry",
      () => pack("place", changed("repository/config", Buffer.from("x"))),
    ],
    ["a newer version", "import_version", () => pack("newer", unpack(), (same) => ({ ...same, version: 2 }))],
    [
      "a changed event",
      "import_chain",
      () => {
        const text = unpack().contents.get("history.jsonl")?.toString() ?? "";
        return pack("chain", changed("history.jsonl", Buffer.from(text.replace("AGI-7", "AGI-8"))));
      },
    ],
    [
      "a flow under another's hash",
      "import_invalid",
      () => {
        const flow = unpack().contents.get("flow.json")?.toString() ?? "";
        return pack("flow", changed("flow.json", Buffer.from(flow.replace("feature", "evil"))));
      },
    ],
    [
      "contents that do not have their hash",
      "import_broken",
      () =>
        pack("hash", unpack(), (same) => ({
          ...same,
          entries: same.entries.map((entry) => ({ ...entry, sha256: "0".repeat(64) })),
        })),
    ],
    [
      "more than it says",
      "import_too_large",
      () =>
        pack("large", unpack(), (same) => ({
          ...same,
          entries: same.entries.map((entry) => ({ ...entry, bytes: 2_000_000_000 })),
        })),
    ],
    [
      "commits that are none",
      "import_commits",
      () => pack("commits", changed("commits.pack", Buffer.from("PACK rubbish"))),
    ],
    [
      "half a file",
      "import_broken",
      () => {
        const half = join(bench.dir, "half");
        writeFileSync(half, readFileSync(file).subarray(0, 2000));
        return half;
      },
    ],
    [
      "no export at all",
      "import_broken",
      () => {
        const text = join(bench.dir, "text");
        writeFileSync(text, "hello\n");
        return text;
      },
    ],
    ["no file", "import_file_missing", () => join(bench.dir, "nothing")],
  ];

  test.each(cases)("%s", async (_name, code, make) => {
    mkdirSync(home(), { recursive: true, mode: 0o700 });
    const own = mkdtempSync(join(home(), "h-"));
    const store = openSqliteStore({ file: join(own, "passrail.db") });
    try {
      const now = (): string => "2026-01-02T03:04:05.000Z";
      const taken = await importRun({ home: own, store, actor: "human:me", now }, make());
      expect(taken).toMatchObject({ ok: false, error: { code } });
      if (!taken.ok) expect(taken.error.message).not.toContain("\n");
      expect(await store.listRuns({ limit: 10 })).toEqual([]);
      expect(readdirSync(join(own, "runs"))).toEqual([]);
    } finally {
      store.close();
      rmSync(own, { recursive: true, force: true });
    }
  });
});

test("an import that was cut off between its files and its run is completed by the next one", async () => {
  const own = mkdtempSync(join(bench.dir, "cut-"));
  const store = openSqliteStore({ file: join(own, "passrail.db") });
  const site = { home: own, actor: "human:me", now: () => "2026-01-02T03:04:05.000Z" } as const;
  const dies = { ...store, commit: () => Promise.reject(new Error("power cut")) };
  try {
    await expect(importRun({ ...site, store: dies }, file)).rejects.toThrow("power cut");
    expect(await store.listRuns({ limit: 1 })).toEqual([]);
    expect(await importRun({ ...site, store }, file)).toMatchObject({ ok: true, value: { number: 1 } });
    expect(await store.verify()).toEqual([]);
    const [run] = await store.listRuns({ limit: 1 });
    expect((await store.attempts(run?.id ?? "")).at(-1)?.facts["process"]).toBeUndefined();
    expect(existsSync(join(own, "runs", run?.id ?? "", "repository", ".git"))).toBe(true);
  } finally {
    store.close();
  }
});
