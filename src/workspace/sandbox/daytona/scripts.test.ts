// The scripts really run, with this machine in the place of a sandbox.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../test/harness/until.ts";
import { removeTempDirs, tempDir } from "../../workspace.testsuite.ts";
import { endProgram, openPlace, type Remote, startProgram } from "./scripts.ts";

afterEach(removeTempDirs);

const run = (command: string): string => execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" });

async function place() {
  const root = await tempDir();
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  for (const name of ["env", "prompt"]) writeFileSync(join(root, name), "");
  return { root, workspace };
}

/** A program with a child that writes all the time. */
async function startBeating(remote: Remote): Promise<string> {
  const beat = join(remote.workspace, "beat");
  const beats = `while :; do date +%s%N > ${beat}.new; mv ${beat}.new ${beat}; sleep 0.02; done & wait`;
  run(startProgram(remote, remote.workspace, ["sh", "-c", beats]));
  const first = await until("it works", () => (existsSync(beat) ? readFileSync(beat, "utf8") : undefined));
  await until("it works on", () => readFileSync(beat, "utf8") !== first || undefined);
  return beat;
}

async function isWriting(beat: string): Promise<boolean> {
  const before = readFileSync(beat, "utf8");
  await delay(300);
  return readFileSync(beat, "utf8") !== before;
}

test("a program whose start got no answer is ended before the next one gets its place", async () => {
  const remote = await place();
  const beat = await startBeating(remote);
  try {
    expect(await isWriting(beat)).toBe(true);
    run(openPlace(remote));
    expect(await isWriting(beat)).toBe(false);
  } finally {
    run(endProgram(remote, "KILL"));
  }
});

test.each(["TERM", "KILL"] as const)(
  "a program that is to end by %s ends, with all that it started",
  async (signal) => {
    const remote = await place();
    const beat = await startBeating(remote);
    run(endProgram(remote, signal));
    // One that got TERM may still have a step to do.
    await delay(signal === "TERM" ? 200 : 0);
    expect(await isWriting(beat)).toBe(false);
  },
);

test("a program that is to end may save its work, and its exit code is known", async () => {
  const remote = await place();
  const polite = "trap 'echo saved > saved; exit 5' TERM; echo > ready; while :; do sleep 0.02; done";
  run(startProgram(remote, remote.workspace, ["sh", "-c", polite]));
  await until("it is ready", () => existsSync(join(remote.workspace, "ready")) || undefined);
  run(endProgram(remote, "TERM"));
  await until("it has ended", () => existsSync(join(remote.root, "exit")) || undefined);
  expect(readFileSync(join(remote.root, "exit"), "utf8")).toBe("5\n");
  expect(existsSync(join(remote.workspace, "saved"))).toBe(true);
});

test("a process that has the number of a program that ended long ago is left alone", async () => {
  const remote = await place();
  run(startProgram(remote, remote.workspace, ["true"]));
  await until("it has ended", () => existsSync(join(remote.root, "exit")) || undefined);
  const other = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const ended = once(other, "exit");
  writeFileSync(join(remote.root, "pid"), `${other.pid}\n`);
  run(openPlace(remote));
  other.kill("SIGTERM");
  expect(await ended).toEqual([null, "SIGTERM"]);
});
