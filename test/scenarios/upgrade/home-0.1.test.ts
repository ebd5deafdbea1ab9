// A data folder and a project of version 0.1 open with the program of today, and work goes on in them. The store names the project by its
// path, so both are copied to where they were made.

import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROGRAM } from "../../harness/program.ts";

const FIXTURE = join(import.meta.dirname, "../../fixtures/home-0.1");
const PLACE = "/tmp/passrail-0.1";
const HOME = join(PLACE, "home");
const PROJECT = join(PLACE, "project");

beforeAll(() => {
  rmSync(PLACE, { recursive: true, force: true });
  mkdirSync(PLACE, { mode: 0o700 });
  cpSync(FIXTURE, PLACE, { recursive: true });
  for (const [path, mode] of [
    ["home", 0o700],
    ["home/passrail.db", 0o600],
  ] as const)
    chmodSync(join(PLACE, path), mode);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=owner", "-c", "user.email=owner@localhost", ...args], { cwd: PROJECT });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
});
afterAll(() => rmSync(PLACE, { recursive: true, force: true }));

function passrail(...args: readonly string[]): { readonly code: number; readonly out: string } {
  const whole = [PROGRAM, "--home", HOME, "--cwd", PROJECT, ...args];
  const env = { PATH: process.env["PATH"], HOME: PLACE, XDG_CONFIG_HOME: join(PLACE, "config") };
  try {
    return { code: 0, out: execFileSync(process.execPath, whole, { env, encoding: "utf8", stdio: "pipe" }) };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { code: status, out: `${stdout}${stderr}` };
  }
}

const statuses = (): readonly unknown[] => {
  const { runs } = JSON.parse(passrail("runs", "list", "--json").out) as { runs: { number: number; status: string }[] };
  return runs.map(({ number, status }) => `#${number} ${status}`);
};

const AS_LEFT = ["#5 waiting", "#4 canceled", "#3 stopped", "#2 completed", "#1 waiting"];

test("R-000-36: commands that only read show a folder of version 0.1 as it is, and change nothing", () => {
  const before = readFileSync(join(HOME, "passrail.db"));
  expect(statuses()).toEqual(AS_LEFT);
  expect(passrail("runs", "show", "2").out).toContain("Goes all the way");
  expect(passrail("inbox").out).toContain("1.1");
  expect(passrail("ticket", "list").out).toContain("AGI-1");
  expect(passrail("verify")).toMatchObject({ code: 0, out: expect.stringContaining("41 events") as string });
  expect(readFileSync(join(HOME, "passrail.db")).equals(before)).toBe(true);
});

test("R-000-36: a gate that waits since version 0.1 is answered, its run is carried on to the end, and the old file is kept", {
  timeout: 120_000,
}, () => {
  // Version 0.1 knew no approval of a project's files: the first command that would act asks for it, once.
  const asked = passrail("gate", "approve", "1.1");
  expect(asked).toMatchObject({ code: 1, out: expect.stringContaining("passrail trust --yes") as string });
  expect(passrail("trust", "--yes")).toMatchObject({ code: 0 });
  expect(passrail("gate", "approve", "1.1")).toMatchObject({ code: 3 });
  expect(passrail("gate", "approve", "1.2")).toMatchObject({ code: 0 });
  expect(statuses()).toEqual(AS_LEFT.with(4, "#1 completed"));
  expect(passrail("verify").code).toBe(0);
  expect(existsSync(join(HOME, "passrail.db.v4.bak"))).toBe(true);
  // A run that was stopped, and the run of a ticket, go on too.
  expect(passrail("runs", "retry", "3")).toMatchObject({ code: 5 });
  expect(passrail("gate", "approve", "5.1")).toMatchObject({ code: 3 });
  expect(passrail("verify").code).toBe(0);
});
