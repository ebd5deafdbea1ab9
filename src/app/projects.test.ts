import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addProject, listProjects, removeProject, requireProject } from "./projects.ts";

let home: string;
let folder: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-projects-")));
  folder = join(home, "shop");
  mkdirSync(folder);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const now = "2026-01-01T00:00:00.000Z";

test.each(["../../etc", "a/b", "", "..", ".hidden", "-x", "a b", "a\u001b[31m", "x".repeat(65), "__proto__", "a\n"])(
  "R-001-38: the name %j is refused and nothing is written",
  (name) => {
    expect(addProject(home, { folder, name, now })).toMatchObject({
      ok: false,
      error: { code: "invalid_project_name" },
    });
    expect(listProjects(home)).toEqual({ ok: true, value: [] });
  },
);

test("names of every object's properties are ordinary names", () => {
  expect(requireProject(home, "toString")).toMatchObject({ ok: false, error: { code: "unknown_project" } });
  expect(addProject(home, { folder, name: "constructor", now })).toMatchObject({ ok: true });
  expect(requireProject(home, "Constructor")).toMatchObject({ ok: true, value: { folder, name: "constructor" } });
  expect(removeProject(home, "CONSTRUCTOR")).toMatchObject({ ok: true });
  expect(listProjects(home)).toEqual({ ok: true, value: [] });
});

test("a damaged file is named, not skipped; a relative or foreign path in it is refused", () => {
  addProject(home, { folder, now });
  for (const text of ["{", '{"name":"other","folder":"/","addedAt":""}', '{"name":"bad","folder":"x","addedAt":""}']) {
    writeFileSync(join(home, "projects/bad.json"), text);
    const listed = listProjects(home);
    expect(listed).toMatchObject({ ok: false, error: { code: "projects_damaged" } });
    expect(listed.ok ? "" : listed.error.message).toContain("bad.json");
  }
});

test("an unknown name names the known ones, and a folder that is gone says how to register it again", () => {
  addProject(home, { folder, now });
  const unknown = requireProject(home, "shoop");
  expect(unknown.ok ? "" : unknown.error.hint).toContain('did you mean "shop"?\nknown projects: shop');
  rmSync(folder, { recursive: true });
  const moved = requireProject(home, "shop");
  expect(moved).toMatchObject({ ok: false, error: { code: "project_moved" } });
  expect(moved.ok ? "" : moved.error.hint).toContain("passrail projects remove shop");
});
