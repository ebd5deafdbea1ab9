import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lookAtMachine, node, stateFolder } from "./look-at-machine.ts";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-doctor-")));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("a Node with an old SQLite fails with the versions that work", () => {
  const versions = { ...process.versions, node: "24.12.0", sqlite: "3.50.4" };
  expect(node(versions)).toMatchObject({ state: "fail", fix: expect.stringContaining("24.18.1") });
  expect(node({ ...versions, sqlite: "3.51.3" })).toMatchObject({ state: "ok" });
});

test("the state folder is fine where it can be made, doubtful where others read it, and no file", () => {
  expect(stateFolder(join(dir, "a/b"))).toMatchObject({ state: "ok" });
  chmodSync(dir, 0o755);
  expect(stateFolder(dir)).toMatchObject({ state: "warn", fix: `chmod 700 ${dir}` });
  chmodSync(dir, 0o700);
  expect(stateFolder(dir)).toMatchObject({ state: "ok", fix: "" });
  writeFileSync(join(dir, "file"), "");
  expect(stateFolder(join(dir, "file"))).toMatchObject({ state: "fail" });
  expect(stateFolder(join(dir, "file/below"))).toMatchObject({ state: "fail" });
});

test.runIf(process.getuid?.() !== 0)("a folder that the person cannot write fails", () => {
  chmodSync(dir, 0o500);
  expect(stateFolder(dir)).toMatchObject({ state: "fail" });
  chmodSync(dir, 0o700);
});

test("this machine has a git and room, and each has a line", async () => {
  expect((await lookAtMachine(dir)).map(({ name }) => name)).toEqual(["node", "git", "state folder", "disk"]);
});
