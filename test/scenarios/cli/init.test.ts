// `init` on a newcomer's machine: what it finds, what it writes, and that it writes nothing without a yes.

import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { lookAtTrust } from "../../../src/app/trust/trust.ts";
import { hasTerminal, openTerminal } from "../../harness/terminal.ts";
import { CLI } from "./bench.ts";
import { FIXED, type Newcomer, openNewcomer } from "./first-hour.ts";

let own: Newcomer;
afterEach(() => own.remove());

function open(): string {
  own = openNewcomer();
  own.install(FIXED);
  writeFileSync(join(own.project, "go.mod"), "module x\n");
  writeFileSync(join(own.project, "Makefile"), "lint:\n\tfalse\n");
  symlinkSync("/bin/true", join(own.dir, "bin/go"));
  symlinkSync("/bin/false", join(own.dir, "bin/make"));
  return join(own.project, "passrail.yaml");
}

test("it tries the checks, switches the red one off, writes the file, trusts it, and never replaces it", async () => {
  const file = open();
  const env = { ...own.env, ANTHROPIC_API_KEY: "sk-ant-of-this-test" };
  const asked = await own.passrail(["init"], { env });
  expect(asked).toMatchObject({ code: 2 });
  expect(asked.err).toContain("confirmation_missing");
  expect(existsSync(file)).toBe(false);
  const written = await own.passrail(["init", "--yes", "--run-checks", "--json"], { env });
  expect(written).toMatchObject({ code: 0, err: "" });
  expect(JSON.parse(written.out)).toMatchObject({ written: true, trusted: true, red: { lint: "exit code 1" } });
  const text = readFileSync(file, "utf8");
  expect(text).toContain("runner: claude");
  const [, schema = ""] = /^# yaml-language-server: \$schema=(\S+)\n/u.exec(text) ?? [];
  expect(JSON.parse(readFileSync(join(own.project, schema), "utf8"))).toMatchObject({ properties: { slots: {} } });
  expect(text).toContain('  test: [go, test, "./..."]');
  expect(text).toContain("  # lint: [make, lint] # it is red");
  expect(lookAtTrust({ home: own.home, project: own.project })).toMatchObject({ value: { state: "approved" } });
  const again = await own.passrail(["init", "--yes"], { env });
  expect(again).toMatchObject({ code: 1, out: "" });
  expect(again.err).toContain("settings_exist");
  expect(readFileSync(file, "utf8")).toBe(text);
});

test.runIf(hasTerminal)("on a terminal it shows the file and asks; a no writes nothing", async () => {
  const file = open();
  const env = { ...process.env, ...own.env, PASSRAIL_HOME: own.home, XDG_CONFIG_HOME: join(own.dir, "config") };
  const terminal = openTerminal([process.execPath, CLI, "init"], { cwd: own.project, env });
  await terminal.sees("Run these checks once now? [y/N]");
  terminal.types("n\r");
  await terminal.sees("Write passrail.yaml? [y/N]");
  terminal.types("n\r");
  const { code, text } = await terminal.ended;
  expect(text).toContain("lint: [make, lint]");
  expect(text).toContain("# runner: claude");
  expect(code).toBe(1);
  expect(existsSync(file)).toBe(false);
});

test.runIf(hasTerminal)(
  "flow simulate without a list asks in the flow's words and prints the list that repeats it",
  async () => {
    open();
    const env = { ...process.env, ...own.env, PASSRAIL_HOME: own.home, XDG_CONFIG_HOME: join(own.dir, "config") };
    const terminal = openTerminal([process.execPath, CLI, "flow", "simulate", "quick"], { cwd: own.project, env });
    await terminal.sees("build: what happens?");
    terminal.types("nonsense\r");
    await terminal.sees("Its number or its word");
    terminal.types("failed\r");
    await terminal.sees("escalation build: what happens?");
    terminal.types("\r");
    const { code, text } = await terminal.ended;
    expect(code).toBe(0);
    expect(text).toContain('[{"stage":"build","health":"failed"}]');
    const piped = await own.passrail(["flow", "simulate", "quick"]);
    expect(piped).toMatchObject({ code: 2, err: expect.stringContaining("outcomes_missing") });
  },
);
