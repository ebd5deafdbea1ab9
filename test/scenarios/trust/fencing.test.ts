// A process that lost its store by any trick writes nothing more, and a restored store does not take the files of the lost work for its own.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { intoVersion10, intoVersion12 } from "../../../src/store/sqlite/older.testsuite.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { commitAll, newRun } from "../../../src/store/store.testsuite.ts";
import type { Store } from "../../../src/store/store.ts";
import { until } from "../../harness/until.ts";
import { isAlive } from "../cli/bench.ts";
import { type Running, startDaemon } from "../daemon/running.ts";

const FENCED = expect.objectContaining({ code: "store_fenced" });

describe("a store and its backup", () => {
  let folder: string;
  let file: string;
  const stores: Store[] = [];
  const open = (options: { readonly owner?: boolean; readonly readOnly?: boolean } = { owner: true }): Store => {
    const store = openSqliteStore({ file, ...options });
    stores.push(store);
    return store;
  };
  /** A copy of the database as it is now, as `sqlite3 .backup` makes it. */
  const backUp = (name: string): string => {
    const copy = join(folder, name);
    const db = new DatabaseSync(file);
    db.prepare("VACUUM INTO ?").run(copy);
    db.close();
    return copy;
  };
  /** Puts the backup in place of the database, as a person does. */
  const restore = (copy: string): void => {
    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    copyFileSync(copy, file);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "passrail-fence-"));
    file = join(folder, "passrail.db");
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) store.close();
    await rm(folder, { recursive: true });
  });

  test.each(["in an earlier epoch", "in the same epoch"])(
    "S07: a backup that was made %s and restored beside newer work gets a new incarnation, once",
    async (when) => {
      const before = open();
      const incarnation = before.incarnation();
      await commitAll(before, [newRun("a")]);
      const copy = backUp("backup.db");
      let last = before;
      if (when === "in an earlier epoch") {
        before.close();
        last = open();
      }
      await commitAll(last, [newRun("b")]);
      last.close();
      restore(copy);
      const restored = open();
      expect(await restored.loadRun("b")).toBeUndefined();
      expect(restored.incarnation()).not.toBe(incarnation);
      const renewed = restored.incarnation();
      await commitAll(restored, [newRun("c")]);
      restored.close();
      expect(open().incarnation()).toBe(renewed);
      expect(await open().verify()).toEqual([]);
    },
  );

  test("S07: a database without its mark, or with a damaged one, counts as restored", async () => {
    const store = open();
    const incarnation = store.incarnation();
    store.close();
    rmSync(`${file}.mark`);
    const second = open();
    const renewed = second.incarnation();
    expect(renewed).not.toBe(incarnation);
    second.close();
    writeFileSync(`${file}.mark`, "0 0 0");
    expect(open().incarnation()).not.toBe(renewed);
  });

  test("P9: a process whose file was replaced, removed or overwritten under it writes nothing", async () => {
    for (const trick of ["replaced", "removed", "overwritten"]) {
      const store = open();
      const beside = open({});
      await commitAll(store, [newRun(`${trick}-1`)]);
      const copy = backUp(`${trick}.db`);
      await commitAll(store, [newRun(`${trick}-2`)]);
      if (trick === "replaced") renameSync(copy, file);
      if (trick === "removed") rmSync(file);
      if (trick === "overwritten") overwrite(copy);
      // A process beside the owner has not read what an overwritten file lost.
      for (const each of trick === "overwritten" ? [store] : [store, beside]) {
        await expect(each.commit(newRun(`${trick}-3`))).rejects.toThrow(FENCED);
        await expect(each.changedElsewhere()).rejects.toThrow(FENCED);
      }
      for (const each of stores.splice(0)) each.close();
      for (const end of ["", "-wal", "-shm", ".mark"]) rmSync(`${file}${end}`, { force: true });
    }
  });

  /** The content goes back to that of the copy while the file stays the same. */
  function overwrite(copy: string): void {
    const db = new DatabaseSync(file);
    db.exec(`ATTACH '${copy}' AS old; BEGIN IMMEDIATE`);
    db.exec("DROP TRIGGER commits_never_go; DELETE FROM commits WHERE seq > (SELECT max(seq) FROM old.commits)");
    db.exec("COMMIT");
    db.close();
  }

  test("readers of a store from before the fence read it as it is", async () => {
    const store = open();
    await commitAll(store, [newRun("a")]);
    store.close();
    intoVersion12(file);
    intoVersion10(file);
    const db = new DatabaseSync(file);
    db.exec("DROP TABLE identity; DROP TABLE checks; DROP TABLE holds; PRAGMA user_version = 6");
    // Later versions add a column, and write the views anew.
    for (const view of ["agent_handoffs", "handoff_rows"]) db.exec(`DROP VIEW ${view}`);
    db.exec("ALTER TABLE handoffs DROP COLUMN added");
    for (const view of ["agent_handoffs", "handoff_rows"]) db.exec(`CREATE VIEW ${view} AS SELECT 1`);
    db.close();
    const reader = open({ readOnly: true });
    expect([reader.incarnation(), (await reader.loadRun("a"))?.version]).toEqual(["", 3]);
    reader.close();
    expect(open().incarnation()).toMatch(/^[0-9a-f]{16}$/u);
    expect(existsSync(`${file}.v6.bak`)).toBe(true);
  });
});

describe("two daemons by a trick", () => {
  let daemon: Running;
  afterEach(() => daemon.close());

  test("P9: a daemon whose lock file was deleted ends with its agents when another one takes over, and says why", async () => {
    daemon = await startDaemon();
    const trace = join(daemon.dir, "trace");
    const slow = { spec: [{ verdict: "APPROVED", hold: join(daemon.dir, "go"), trace }] };
    const args = ["run", "feature", "Slow", "--agent", `*=${daemon.player(slow)}`, "--detach"];
    expect((await daemon.passrail(args)).code).toBe(0);
    const version = await until("it waits", async () => {
      const { status, body } = await daemon.call("GET", "/api/inbox/1.1");
      return status === 200 ? String(body["version"]) : undefined;
    });
    const answer = { body: { answer: "approve" }, headers: { "if-match": `"${version}"` } };
    expect((await daemon.call("POST", "/api/inbox/1.1/answer", answer)).status).toBe(200);
    await until("its agent works", () => (existsSync(trace) ? true : undefined));
    const stale = daemon.process;
    const pids = agentsOf(daemon);
    expect(pids.map(isAlive)).toEqual([true]);

    rmSync(join(daemon.home, "engine.lock.db"));
    await daemon.up();
    const ended = await stale.ended;
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining("code store_fenced")]);
    expect(pids.map(isAlive)).toEqual([false]);
    // The note that leads to the new daemon is still there, and its run goes on.
    expect(JSON.parse(readFileSync(join(daemon.home, "daemon.json"), "utf8"))).toMatchObject({
      pid: daemon.process.child.pid,
    });
    const types = await until("the new daemon has started it again", async () => {
      const { text } = await daemon.call("GET", "/api/runs/1/events");
      const found = [...text.matchAll(/"type":"(stage\.[a-z]+)"/gu)].map(([, type]) => type);
      return found.at(-1) === "stage.started" ? found : undefined;
    });
    expect(types.filter((type) => type === "stage.interrupted")).toHaveLength(1);
    expect((await daemon.passrail(["verify"])).code).toBe(0);
  });
});

/** The process ids of the agents that play the first script. */
function agentsOf(daemon: Running): readonly number[] {
  const lines = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  const player = `play.mjs ${join(daemon.dir, "script-1.json")}`;
  return lines
    .filter((line) => line.includes(player) && !line.includes("--agent"))
    .map((line) => Number.parseInt(line, 10));
}
