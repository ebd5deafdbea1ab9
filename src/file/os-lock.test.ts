import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeOsLock, tryOsLock } from "./os-lock.ts";

let file: string;
beforeEach(() => void (file = join(mkdtempSync(join(tmpdir(), "passrail-lock-")), "a", "b.lock")));
afterEach(() => rmSync(join(file, "../.."), { recursive: true, force: true }));

test("one holder at a time, in this process too", async () => {
  const lock = tryOsLock(file);
  expect(tryOsLock(file)).toBeUndefined();
  const next = takeOsLock(file);
  lock?.release();
  (await next).release();
  lock?.release();
  expect(tryOsLock(file)).toBeDefined();
});

test("R-X-05: the lock of a killed process is free at once", async () => {
  const text = `
    import { tryOsLock } from ${JSON.stringify(new URL("./os-lock.ts", import.meta.url).href)};
    if (tryOsLock(${JSON.stringify(file)}) !== undefined) process.stdout.write("held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  expect(tryOsLock(file)).toBeUndefined();
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(tryOsLock(file)).toBeDefined();
});
