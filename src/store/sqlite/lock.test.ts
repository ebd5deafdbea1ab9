// The engine's lock, with real processes: one owner, whatever the spelling of the folder, free when the owner is killed.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockOwner, takeEngineLock } from "./lock.ts";

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-lock-"));
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true });
});

/** A process that tries to take the lock, says what it got, and stays. */
function spawnOwner(dir: string): { readonly child: ChildProcess; readonly said: Promise<string> } {
  const script = `
    const { takeEngineLock } = await import(${JSON.stringify(new URL("./lock.ts", import.meta.url).href)});
    const lock = takeEngineLock(process.argv[1]);
    console.log("heldBy" in lock ? lock.heldBy : "taken");
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, dir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  return { child, said: once(child.stdout, "data").then(([data]) => String(data).trim()) };
}

test("a second process is refused and told who has the folder", async () => {
  const owner = spawnOwner(folder);
  expect(await owner.said).toBe("taken");
  const second = takeEngineLock(folder);
  expect(second).toEqual({ heldBy: expect.stringMatching(new RegExp(`^process ${owner.child.pid} since 20.*Z$`)) });
});

test("whoever has taken the lock and not said so yet is not taken for the owner that was killed before", async () => {
  const dead = spawnOwner(folder);
  expect(await dead.said).toBe("taken");
  expect(lockOwner(folder)).toMatchObject({ pid: dead.child.pid });
  dead.child.kill("SIGKILL");
  await once(dead.child, "exit");
  // As the next owner is between its lock and its note.
  const next = new DatabaseSync(join(folder, "engine.lock.db"));
  next.exec("BEGIN EXCLUSIVE");
  expect(lockOwner(folder)).toBeUndefined();
  next.close();
});

test("the lock is free at once when its owner is killed with -9", async () => {
  const owner = spawnOwner(folder);
  expect(await owner.said).toBe("taken");
  owner.child.kill("SIGKILL");
  await once(owner.child, "exit");
  // The note of the dead owner is still there; it does not count.
  expect(existsSync(join(folder, "engine.json"))).toBe(true);
  const lock = takeEngineLock(folder);
  expect(lock).toHaveProperty("release");
  if ("release" in lock) lock.release();
});

test("the same folder through a link or a trailing slash is the same folder", async () => {
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  try {
    const lock = takeEngineLock(folder);
    expect(takeEngineLock(link)).toHaveProperty("heldBy");
    expect(takeEngineLock(`${folder}/`)).toHaveProperty("heldBy");
    expect(await spawnOwner(link).said).toBe(`process ${process.pid} since ${sinceOf(takeEngineLock(folder))}`);
    if ("release" in lock) lock.release();
  } finally {
    await rm(link);
  }
});

test("of several that start at once exactly one becomes the owner", async () => {
  const said = await Promise.all(Array.from({ length: 8 }, () => spawnOwner(folder).said));
  expect(said.filter((each) => each === "taken")).toHaveLength(1);
});

test("releasing gives the folder to the next, repeating it is fine, and the files are private", () => {
  const lock = takeEngineLock(folder);
  if (!("release" in lock)) throw new Error("the lock was free");
  for (const name of ["engine.lock.db", "engine.json"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  lock.release();
  expect(existsSync(join(folder, "engine.json"))).toBe(false);
  const next = takeEngineLock(folder);
  lock.release();
  expect(existsSync(join(folder, "engine.json"))).toBe(true);
  expect(takeEngineLock(folder)).toHaveProperty("heldBy");
  if ("release" in next) next.release();
});

test("what stands in engine.json is never trusted", () => {
  const lock = takeEngineLock(folder);
  for (const text of ["", "{", "[]", "null", '{"pid":"rm -rf","startedAt":"x"}', "x".repeat(100_000)]) {
    writeFileSync(join(folder, "engine.json"), text);
    expect(takeEngineLock(folder)).toEqual({ heldBy: "another process" });
  }
  if ("release" in lock) lock.release();
});

function sinceOf(lock: ReturnType<typeof takeEngineLock>): string {
  return "heldBy" in lock ? (lock.heldBy.split("since ")[1] ?? "") : "";
}
