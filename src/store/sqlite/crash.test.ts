// The worst days of a store: killed while writing, a torn log, a full disk, readers in the middle of it all.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { smallDisk } from "../../../test/harness/small-disk.ts";
import { type Store, StoreError } from "../store.ts";
import { after, commitAll, handOver, newRun } from "../store.testsuite.ts";
import { openSqliteStore } from "./open.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-crash-"));
  file = join(folder, "passrail.db");
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A process with the store open; each line that it prints is something that the store confirmed as durable, or that it has read. */
function spawnStore(
  script: string,
  wrapper: readonly string[] = [],
): { readonly child: ChildProcess; readonly lines: AsyncIterator<string> } {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const prelude = `
    const { openSqliteStore } = await import(${url("./open.ts")});
    const file = process.argv[1];
    const template = JSON.parse(process.argv[2]);
    const change = (id) => ({
      ...template, runId: id, run: { ...template.run, id }, events: template.events.map((e) => ("id" in e ? { ...e, id } : e)),
    });
  `;
  const template = JSON.stringify(newRun("template"));
  const argv = [...wrapper, process.execPath, "--input-type=module", "-e", prelude + script, file, template];
  const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

async function missingOf(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const id of ids) if ((await store.loadRun(id))?.version !== 3) missing.push(id);
  return missing;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("R-000-16: what was acknowledged before a kill -9 is there afterwards, whole", async () => {
  for (const kills of [1, 40, 200]) {
    rmSync(file, { force: true });
    const { child, lines } = spawnStore(`
      const store = openSqliteStore({ file });
      const one = async (id) => { await store.commit(change(id)); console.log(id); };
      for (let turn = 0; ; turn += 1) await Promise.all([1, 2, 3].map((n) => one("r" + turn + "-" + n)));
    `);
    const acknowledged: string[] = [];
    try {
      while (acknowledged.length < kills) acknowledged.push(String((await lines.next()).value));
      child.kill("SIGKILL");
      for (let line = await lines.next(); !line.done; line = await lines.next()) acknowledged.push(line.value);
    } finally {
      await end(child);
    }
    const store = openSqliteStore({ file });
    // The last line may have been cut by the kill.
    expect(
      await missingOf(
        store,
        acknowledged.filter((each) => /^r\d+-\d$/.test(each)),
      ),
    ).toEqual([]);
    expect(await store.verify()).toEqual([]);
    store.close();
    for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  }
});

test("a torn log gives a prefix of what was committed or a clean refusal, never a wrong store", async () => {
  const store = openSqliteStore({ file });
  const sizes: number[] = [];
  for (const index of Array.from({ length: 12 }).keys()) {
    await commitAll(store, [newRun(`r${index}`)]);
    sizes.push(readFileSync(`${file}-wal`).length);
  }
  const torn = join(folder, "torn");
  mkdirSync(torn, { mode: 0o700 });
  const copy = join(torn, "passrail.db");
  // No other process has the file open, so reading it here, which drops this process's locks on it, does no harm.
  const whole = readFileSync(`${file}-wal`);
  const base = readFileSync(file);
  const offsets = [...sizes, ...sizes.map((size) => size - 1), ...sizes.map((size) => size + 700), 0, 1, 31, 33, 4000];
  for (const offset of offsets.filter((each) => each <= whole.length)) {
    for (const flip of [false, true]) {
      rmSync(`${copy}-shm`, { force: true });
      writeFileSync(copy, base);
      const bytes = Buffer.from(whole.subarray(0, offset));
      // A flipped byte in the last frame that is there: its checksum no longer fits.
      if (flip && offset > 100) bytes[offset - 50] = (bytes[offset - 50] ?? 0) ^ 0xff;
      writeFileSync(`${copy}-wal`, bytes);
      const wholeCommits = sizes.filter((size) => size <= offset).length;
      const found = await readTorn(copy);
      // Without a flipped byte exactly the whole commits are there.
      expect(found).toMatchObject({ inOrder: true, damages: [] });
      expect(found.runs).toBeLessThanOrEqual(wholeCommits);
      expect(found.runs).toBeGreaterThanOrEqual(flip ? 0 : wholeCommits);
    }
  }
  store.close();
});

/** Opens without an exception, or throws something else than a clean refusal that names the file. */
async function readTorn(copy: string) {
  let opened: Store;
  try {
    opened = openSqliteStore({ file: copy });
  } catch (error) {
    if (!(error instanceof StoreError) || !error.message.includes(copy)) throw error;
    return { runs: 0, inOrder: true, damages: [] };
  }
  const numbers = (await opened.listRuns({ limit: 100 })).map((run) => run.number).toReversed();
  const damages = await opened.verify();
  opened.close();
  return { runs: numbers.length, inOrder: numbers.every((number, index) => number === index + 1), damages };
}

test("a reader in another process can list while a writer commits", async () => {
  const store = openSqliteStore({ file });
  await commitAll(store, [newRun("first")]);
  const { child, lines } = spawnStore(`
    const { setTimeout: pause } = await import("node:timers/promises");
    const store = openSqliteStore({ file, readOnly: true });
    for (;;) {
      console.log((await store.listRuns({ limit: 10000 })).length);
      await pause(1);
    }
  `);
  try {
    const seen: number[] = [];
    let turn = 0;
    while (seen.length < 30 || (seen.at(-1) ?? 0) < 50) {
      const [line] = await Promise.all([
        lines.next(),
        store.commit(newRun(`r${turn}`)),
        store.commit(newRun(`s${turn}`)),
      ]);
      expect(line.done).not.toBe(true);
      seen.push(Number(line.value));
      turn += 1;
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    // The two commits of a turn share a transaction: with the first run a reader always sees an odd number.
    expect(seen.filter((count) => count % 2 === 0)).toEqual([]);
  } finally {
    await end(child);
    store.close();
  }
});

const limit = canLimitFiles();

test.skipIf(!limit)(
  "an I/O error rejects with store_io; reads go on, and writing does when the disk works again",
  async () => {
    const { child, lines } = spawnStore(
      `
    const store = openSqliteStore({ file });
    let refused;
    let stored = 0;
    while (refused === undefined) {
      await store.commit(change("r" + stored)).then(() => { stored += 1; }, (error) => { refused = error; });
    }
    const first = await store.loadRun("r0");
    console.log(JSON.stringify({ code: refused.code, reads: first.version }));
    for await (const _ of process.stdin) break;
    const again = await store.commit(change("later"));
    const count = (await store.countRuns()).running;
    console.log(JSON.stringify({ again: again.type, lost: Math.max(0, stored + 1 - count), damages: await store.verify() }));
    process.exit();
  `,
      // Writing beyond a file's limit fails with EFBIG, which SQLite reports as an I/O error. Blocks of 1024 bytes.
      ["bash", "-c", `trap "" XFSZ; ulimit -S -f 600; exec "$0" "$@"`],
    );
    try {
      expect(JSON.parse(String((await lines.next()).value))).toEqual({ code: "store_io", reads: 3 });
      callSystem("prlimit", ["--pid", String(child.pid), "--fsize=unlimited"]);
      child.stdin?.write("go on\n");
      expect(JSON.parse(String((await lines.next()).value))).toEqual({ again: "ok", lost: 0, damages: [] });
    } finally {
      await end(child);
    }
  },
);

/** Programs of the operating system, not of this package. */
function callSystem(program: string, argv: readonly string[]): void {
  execFileSync(program, argv, { stdio: "pipe" });
}

function canLimitFiles(): boolean {
  try {
    callSystem("prlimit", ["--version"]);
    return true;
  } catch {
    console.warn("there is no prlimit here: the test of an I/O error is skipped");
    return false;
  }
}

const small = smallDisk(3);
const BALLAST_BYTES = 2_000_000;

test.skipIf(small === undefined)(
  "a full disk rejects commits with disk_full, keeps reads, and heals by itself",
  async () => {
    const disk = small?.mount() ?? "";
    try {
      const store = openSqliteStore({ file: join(disk, "data", "passrail.db") });
      await commitAll(store, [newRun("a")]);
      writeFileSync(join(disk, "ballast"), Buffer.alloc(BALLAST_BYTES));
      const acknowledged = ["a"];
      let refused: unknown;
      for (let turn = 0; refused === undefined && turn < 5000; turn += 1) {
        const ids = [`r${turn}`, `s${turn}`];
        const results = await Promise.allSettled(ids.map((id) => store.commit(newRun(id))));
        for (const [index, result] of results.entries()) {
          if (result.status === "fulfilled") acknowledged.push(ids[index] ?? "");
          else refused = result.reason;
        }
      }
      expect(refused).toMatchObject({ name: "StoreError", code: "disk_full" });
      expect((await store.loadRun("a"))?.version).toBe(3);
      rmSync(join(disk, "ballast"));
      await commitAll(store, [newRun("later")]);
      expect(await missingOf(store, acknowledged)).toEqual([]);
      expect(await store.verify()).toEqual([]);
      store.close();
    } finally {
      small?.unmount(disk);
    }
  },
);

test("a store whose file another process has locked says so instead of hanging for ever", async () => {
  const store = openSqliteStore({ file });
  const first = newRun("a");
  await commitAll(store, [first]);
  const { child, lines } = spawnStore(`
    const { DatabaseSync } = await import("node:sqlite");
    // Reachable for as long as the process lives: a collected connection is closed, and its lock gone with it.
    globalThis.db = new DatabaseSync(file);
    globalThis.db.exec("BEGIN IMMEDIATE");
    console.log("locked");
    setInterval(() => {}, 1000);
  `);
  try {
    await lines.next();
    const over = handOver(after(first), { from: "analyst", to: "coder" });
    await expect(store.commit(over)).rejects.toMatchObject({ code: "store_busy" });
    await end(child);
    expect(await store.commit(over)).toMatchObject({ type: "ok" });
  } finally {
    await end(child);
    store.close();
  }
});
