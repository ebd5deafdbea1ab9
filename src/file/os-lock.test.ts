import { execFileSync, spawn } from "node:child_process";
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

test("a lock that was held before excludes other processes again, and is free for them in between", async () => {
  const other = (): string => {
    const text = `
      import { tryOsLock } from ${JSON.stringify(new URL("./os-lock.ts", import.meta.url).href)};
      process.stdout.write(tryOsLock(${JSON.stringify(file)}) === undefined ? "held" : "free");`;
    return execFileSync(process.execPath, ["--input-type=module", "-e", text], { encoding: "utf8" });
  };
  const first = await takeOsLock(file);
  expect(other()).toBe("held");
  first.release();
  expect(other()).toBe("free");
  const again = await takeOsLock(file);
  expect(other()).toBe("held");
  again.release();
});

test("a file that was removed and made again is locked itself", async () => {
  (await takeOsLock(file)).release();
  rmSync(file);
  tryOsLock(file)?.release();
  const lock = await takeOsLock(file);
  expect(tryOsLock(file)).toBeUndefined();
  lock.release();
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
