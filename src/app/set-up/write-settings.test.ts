import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeSettings } from "./write-settings.ts";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-init-")));
  mkdirSync(join(dir, "project"));
});
afterEach(() => rmSync(dir, { recursive: true }));
const place = () => ({ home: join(dir, "home"), project: join(dir, "project") });

test("the new file can be approved with the act that wrote it", () => {
  const written = writeSettings(place(), "slots: 2\n");
  expect(written).toMatchObject({ ok: true, value: { approvable: { state: "new" } } });
  expect(readFileSync(join(dir, "project/passrail.yaml"), "utf8")).toBe("slots: 2\n");
});

test("files of others that nobody has approved are not approved with it", () => {
  mkdirSync(join(dir, "project/.passrail/flows"), { recursive: true });
  writeFileSync(join(dir, "project/.passrail/flows/evil.yaml"), "flow: evil\n");
  expect(writeSettings(place(), "slots: 2\n")).toMatchObject({ ok: true, value: { approvable: null } });
});

test("a file or a link in its place is never replaced or followed", () => {
  symlinkSync(join(dir, "elsewhere"), join(dir, "project/passrail.yaml"));
  expect(writeSettings(place(), "slots: 2\n")).toMatchObject({ ok: false, error: { code: "settings_exist" } });
  expect(() => readFileSync(join(dir, "elsewhere"))).toThrow("ENOENT");
});
