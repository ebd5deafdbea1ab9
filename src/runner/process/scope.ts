// A scope of systemd per program: a cgroup that the user's own service manager makes where this user may not make one, as in a plain ssh
// session. `systemd-run --scope` registers itself and becomes the program, so its number, its pipes and its end are the program's.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../core/result.ts";
import type { ConfinedLaunch } from "../runner.ts";
import { cgroupFolder, cgroupName } from "./cgroup.ts";
import { findProgram } from "./find-program.ts";

export type ScopedLaunch = { readonly launch: ConfinedLaunch; readonly cgroup: string };

/** The launch in a scope of its own, and the folder of its cgroup. Throws where there is no such manager. */
export function inScope(launch: ConfinedLaunch, marker: string): ScopedLaunch {
  const here = tryScope();
  if ("problem" in here) throw new Error(here.problem);
  const unit = unitFor(marker);
  const [program] = launch.argv;
  const env = { ...launch.env, ...toManager(launch.env) };
  // The program gets the environment that it was to have: what only systemd-run needs is taken out again.
  const added = Object.keys(env).filter((name) => !(name in launch.env));
  const without = program.includes("=") ? [] : [ENV, ...added.flatMap((name) => ["-u", name])];
  const argv = [...asked(here.systemdRun, unit), ...without, ...launch.argv] as const;
  return { launch: { ...launch, argv, env }, cgroup: join(here.slice, unit) };
}

/** Why programs cannot have one; null where they can. Found out by starting one, once. */
export function scopeProblem(): string | null {
  const here = tryScope();
  return "problem" in here ? here.problem : null;
}

/** Without this the manager ends with the user's last session, and every scope with it. */
export function managerStays(): boolean {
  try {
    return existsSync(join("/var/lib/systemd/linger", userInfo().username));
  } catch {
    // A user without a name, as in some containers.
    return false;
  }
}

type Here = { readonly systemdRun: string; readonly slice: string } | { readonly problem: string };

const ENV = "/usr/bin/env";
const TRY_MS = 5000;
/** Newer versions may put variables in place of this. */
const LITERAL = "${HOME}";
/** Prints its cgroup and its argument, if it may end that cgroup as a whole. */
const LOOK =
  'path=$(sed -n "s/^0:://p" /proc/self/cgroup) && test -w "$1$path/cgroup.kill" && printf "%s\\n" "$path" "$2"';

let known: Here | undefined;

function tryScope(): Here {
  known ??= lookFor();
  return known;
}

function lookFor(): Here {
  const found = findProgram({ argv: ["systemd-run"], cwd: "/", env: { PATH: process.env["PATH"] ?? "" } });
  if (!found.ok) return { problem: "there is no systemd-run" };
  try {
    const root = cgroupFolder("/");
    const unit = unitFor("try");
    const [program, ...args] = [...asked(found.value, unit), "/bin/sh", "-c", LOOK, "sh", root, LITERAL];
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", ...toManager({}) };
    const { status, stdout, stderr, error } = spawnSync(program ?? "", args, {
      timeout: TRY_MS,
      encoding: "utf8",
      env,
    });
    if (error !== undefined) return { problem: error.message };
    if (status !== 0) return { problem: stderr.trim().split("\n").at(-1)?.slice(0, 300) || `exit code ${status}` };
    const [path = "", said] = stdout.split("\n");
    if (basename(path) !== unit) return { problem: "systemd-run started the program outside of its scope" };
    if (said !== LITERAL) return { problem: "systemd-run changes the arguments of programs" };
    return { systemdRun: found.value, slice: dirname(cgroupFolder(path)) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** With `Delegate` a program that runs out of memory does not take its whole scope along. */
function asked(systemdRun: string, unit: string): readonly [string, ...string[]] {
  const options = ["--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes", `--unit=${unit}`];
  return [systemdRun, ...options, "--"];
}

function unitFor(marker: string): string {
  return `${cgroupName(marker)}.scope`;
}

/** Where systemd-run finds the manager of this user. */
function toManager(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const runtime = process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`;
  const bus = process.env["DBUS_SESSION_BUS_ADDRESS"];
  return {
    ...("XDG_RUNTIME_DIR" in env ? {} : { XDG_RUNTIME_DIR: runtime }),
    ...(bus === undefined || "DBUS_SESSION_BUS_ADDRESS" in env ? {} : { DBUS_SESSION_BUS_ADDRESS: bus }),
  };
}
