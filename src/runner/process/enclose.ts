// Chooses what holds the processes of a program without a sandbox together. A choice by name is kept or refused; `auto` takes the first of
// the ladder that works here: a cgroup, because programs notice nothing of it; a scope of systemd, which is one that systemd makes, if the
// user's manager outlives their sessions; a PID namespace only for root, because anybody else needs a user namespace for it, in which sudo
// does not work and ssh refuses the system's settings; else markers.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import type { Enclosure, EnclosureChoice } from "../../core/flow/enclosure.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { ConfinedLaunch } from "../runner.ts";
import { cgroupProblem, prepareToEnter } from "./cgroup.ts";
import { managerStays, scopeProblem } from "./scope.ts";

/** The enclosure that programs get here, or why the chosen one cannot be had. */
export function enclosureHere(choice: EnclosureChoice): Result<Enclosure, string> {
  switch (choice) {
    case "markers":
      return ok("markers");
    case "cgroup":
      return unless(cgroupProblem(), "cgroup", "no cgroup can be made here");
    case "scope":
      return unless(scopeProblem(), "scope", "systemd makes no scope for this user");
    case "namespace":
      return findBubblewrap() === undefined
        ? err("a PID namespace needs bubblewrap (bwrap) in /usr/bin")
        : ok("namespace");
    case "auto":
      return ok(firstHere());
  }
}

/** A program is about to start: what its enclosure would make it wait for begins now. */
export function prepareEnclosure(choice: EnclosureChoice): void {
  if ((choice === "auto" || choice === "cgroup") && cgroupProblem() === null) prepareToEnter();
}

function unless(problem: string | null, enclosure: Enclosure, refusal: string): Result<Enclosure, string> {
  return problem === null ? ok(enclosure) : err(`${refusal}: ${problem}`);
}

function firstHere(): Enclosure {
  if (cgroupProblem() === null) return "cgroup";
  if (managerStays() && scopeProblem() === null) return "scope";
  const bubblewrap = findBubblewrap();
  return process.getuid?.() === 0 && bubblewrap !== undefined && canUnshare(bubblewrap) ? "namespace" : "markers";
}

/** The launch in a PID namespace of its own: when its first process ends, the kernel ends all others. */
export function inNamespace(launch: ConfinedLaunch): ConfinedLaunch {
  return namespaced(findBubblewrap() ?? PLACES[0], launch);
}

function namespaced(bubblewrap: string, { argv, cwd, env }: ConfinedLaunch): ConfinedLaunch {
  // Root keeps its rights: an enclosure is no sandbox.
  const rights = process.getuid?.() === 0 ? ["--cap-add", "ALL"] : [];
  const view = ["--dev-bind", "/", "/", "--proc", "/proc", "--chdir", cwd];
  return { argv: [bubblewrap, "--unshare-pid", "--die-with-parent", ...rights, ...view, "--", ...argv], cwd, env };
}

let tried: { readonly works: boolean } | undefined;

/** Root in a container often may not, and some systems allow users without root no user namespace. Found out by trying, once. */
function canUnshare(bubblewrap: string): boolean {
  if (tried !== undefined) return tried.works;
  const { argv } = namespaced(bubblewrap, { argv: ["/bin/true"], cwd: "/", env: {} });
  tried = { works: spawnSync(bubblewrap, argv.slice(1), { timeout: TRY_MS }).status === 0 };
  return tried.works;
}

const TRY_MS = 5000;

/** Not on a PATH, which may lead into a workspace. */
const PLACES = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"] as const;

function findBubblewrap(): string | undefined {
  return PLACES.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
