// Runs the gate as a process on a small repository: the real steps and the real type checker, with stand-ins for the slow rest.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const real = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> })
  .scripts;
let repository: string;

beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), "passrail-check-"));
  for (const script of ["check.ts", "report.ts"])
    cpSync(join(root, "scripts", script), join(repository, "scripts", script));
  symlinkSync(join(root, "node_modules"), join(repository, "node_modules"));
  const standIns = Object.fromEntries(Object.keys(real).map((name) => [name, "true"]));
  const scripts = { ...standIns, types: real["types"], test: "echo '1 passed, 0 failed'", build: "sh build.sh" };
  writeFileSync(join(repository, "package.json"), JSON.stringify({ type: "module", scripts }));
  const tsconfig = { compilerOptions: { strict: true, noEmit: true, types: [] }, include: ["*.ts"] };
  mkdirSync(join(repository, "web"));
  for (const folder of ["", "web"]) {
    writeFileSync(join(repository, folder, "tsconfig.json"), JSON.stringify(tsconfig));
    writeFileSync(join(repository, folder, "fine.ts"), "export const one: number = 1;\n");
  }
  writeFileSync(join(repository, "build.sh"), "exit 0\n");
});
afterEach(() => rmSync(repository, { recursive: true, force: true }));

function check(): { readonly status: number | null; readonly out: string } {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/check.ts"], { cwd: repository, encoding: "utf8" });
  return { status, out: stdout };
}

test("the gate ends with the tests that passed only when they ran alone", () => {
  const unsteady = "unsteady: test/a.test.ts > waits (failed beside others, passed alone): too late";
  const file = join(repository, "package.json");
  const { type, scripts } = JSON.parse(readFileSync(file, "utf8")) as { type: string; scripts: object };
  const fast = { ...scripts, types: "true", test: `echo '${unsteady}'; echo '1 passed, 0 failed'` };
  writeFileSync(file, JSON.stringify({ type, scripts: fast }));
  const { out, status } = check();
  expect(status).toBe(0);
  expect(out.split("\n")).toContain(unsteady);
  expect(out.trimEnd().split("\n").at(-1)).toBe("1 passed, 0 failed");
});

test("R-000-44: type check and build are steps of the gate, and a type error or a failed build fails it", () => {
  const clean = check();
  expect(clean.out).toMatch(/^ok +types /mu);
  expect(clean.out).toMatch(/^ok +build /mu);
  expect(clean.status).toBe(0);

  for (const folder of ["", "web"]) {
    const planted = join(repository, folder, "planted.ts");
    writeFileSync(planted, 'export const one: number = "one";\n');
    const red = check();
    expect(red.out).toMatch(/^FAILED types /mu);
    expect(red.out).toContain("planted.ts");
    expect(red.status).toBe(1);
    rmSync(planted);
  }

  writeFileSync(join(repository, "build.sh"), "exit 1\n");
  expect(check()).toMatchObject({ status: 1, out: expect.stringMatching(/^FAILED build /mu) });

  // The steps of the product itself: both of its type checks, and the build that proves that it starts.
  expect(real["types"]).toBe("tsc -p . && tsc -p web");
  expect(real["build"]).toBe("node scripts/build.ts");
});

test("R-004-66: lint is a step of the gate, denies warnings, and fails it", () => {
  expect(check().out).toMatch(/^ok +lint /mu);
  const file = join(repository, "package.json");
  const { scripts, ...rest } = JSON.parse(readFileSync(file, "utf8")) as { scripts: Record<string, string> };
  writeFileSync(file, JSON.stringify({ ...rest, scripts: { ...scripts, lint: "exit 1" } }));
  expect(check()).toMatchObject({ status: 1, out: expect.stringMatching(/^FAILED lint /mu) });
  expect(real["lint"]).toBe("oxlint --deny-warnings");
});
