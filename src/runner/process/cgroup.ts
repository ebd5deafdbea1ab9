// A cgroup (version 2) per program of an attempt. Whatever the program starts is born inside and stays there: a new session, a cleared
// environment and a lost parent change nothing. Nothing that the program sees is different. It is a child of the cgroup that this process
// is in, so limits of the service or the container hold for agents, too.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile as writeFileSoon } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../core/result.ts";
import { wholeMarker } from "../runner.ts";

/** systemd names those that it makes after their kind, and removes them itself when they are empty. */
const NAME = /^passrail-[0-9a-f]{12}-[0-9a-f]{12}(?<scope>\.scope)?$/u;

/** A new cgroup for a program of the attempt with this marker. Throws where none can be made. */
export function createCgroup(marker: string): string {
  const path = join(ownCgroup(), cgroupName(marker));
  mkdirSync(path);
  return path;
}

/** A new name for a cgroup of the attempt with this marker. */
export function cgroupName(marker: string): string {
  return `${prefixOf(marker)}${randomBytes(6).toString("hex")}`;
}

/** Those of an attempt beside this process, also if a crash came before they were recorded. */
export function cgroupsOf(marker: string): readonly string[] {
  if (cgroupProblem() !== null) return [];
  const [own, prefix] = [ownCgroup(), prefixOf(marker)];
  return namesIn(own)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(own, name));
}

function prefixOf(marker: string): string {
  return `passrail-${createHash("sha256").update(wholeMarker(marker)).digest("hex").slice(0, 12)}-`;
}

/**
 * Calls `start` while this process is inside, so that the child is born there. It must be synchronous: everything that this process starts
 * meanwhile would be inside, too.
 */
export function startInside<T>(path: string, start: () => T): T {
  const before = ownCgroup();
  try {
    enter(path);
  } catch {
    // Another process that sweeps may have removed it while it was empty.
    mkdirSync(path, { recursive: true });
    enter(path);
  }
  try {
    return start();
  } finally {
    enter(before);
  }
}

const AGAIN_MS = 4;
const SOON_MS = 200;
let readyUntilMs = 0;
let moving: Promise<void> | undefined;

/**
 * A program starts soon. Before a process changes its cgroup, the kernel waits for all processors, some 7 ms; whoever asks again within the
 * next 8 ms does not wait. So this process moves to the cgroup in which it is, again and again and off its main thread, for a moment.
 */
export function prepareToEnter(): void {
  const isPreparing = performance.now() < readyUntilMs;
  readyUntilMs = performance.now() + SOON_MS;
  if (!isPreparing) void stayReady();
}

async function stayReady(): Promise<void> {
  while (performance.now() < readyUntilMs) {
    moving ??= moveToOwn();
    await moving;
    await delay(AGAIN_MS, undefined, { ref: false });
  }
}

async function moveToOwn(): Promise<void> {
  try {
    await writeFileSoon(join(ownCgroup(), "cgroup.procs"), "0");
  } catch {
    // Then the start waits.
  } finally {
    moving = undefined;
  }
}

/** Such a move in the middle of `startInside` would take this process out again before the child is born: no other call may come in between. */
export async function untilStill(): Promise<void> {
  readyUntilMs = 0;
  while (moving !== undefined) await moving;
}

/** Processes in it, and in cgroups that its programs made below; none when it is gone. */
export function cgroupMembers(path: string): readonly number[] {
  if (!isOurs(path)) return [];
  return [path, ...below(path)].flatMap((each) =>
    linesOf(join(each, "cgroup.procs"))
      .map(Number)
      // 0: a process of another PID namespace that cannot be named here.
      .filter((pid) => pid > 1),
  );
}

/** Ends all of them at once: none can fork away. */
export function killCgroup(path: string): void {
  if (!isOurs(path)) return;
  try {
    // Only if it could not leave after a start: it would end itself.
    if (ownCgroup().startsWith(path)) return;
    writeFileSync(join(path, "cgroup.kill"), "1");
  } catch {
    // It is gone, or not ours to kill: whoever is left in it is seen by the next look.
  }
}

/** Does nothing while a process is inside. */
export function removeCgroup(path: string): void {
  if (!isOurs(path) || NAME.exec(basename(path))?.groups?.["scope"] !== undefined) return;
  for (const each of [...below(path).toReversed(), path]) {
    try {
      rmdirSync(each);
    } catch {
      return;
    }
  }
}

/** Empty ones of programs that were killed with everything that knew of them, wherever this process may remove them. */
export function sweepCgroups(): void {
  if (cgroupProblem() !== null) return;
  const own = ownCgroup();
  for (const name of namesIn(own).filter((each) => NAME.test(each))) removeCgroup(join(own, name));
}

let known: { readonly problem: string | null } | undefined;

/** Why attempts cannot have one; null where they can. Found out by trying, once. */
export function cgroupProblem(): string | null {
  known ??= { problem: tryOne() };
  return known.problem;
}

function tryOne(): string | null {
  let path: string | undefined;
  try {
    path = createCgroup("try");
    if (!existsSync(join(path, "cgroup.kill"))) return "the kernel is older than 5.14";
    startInside(path, () => undefined);
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    if (path !== undefined) removeCgroup(path);
  }
}

/** The folder of the cgroup that this process is in; a service manager may move it at any time. */
function ownCgroup(): string {
  const place = linesOf("/proc/self/cgroup").find((line) => line.startsWith("0::"));
  if (place === undefined) throw new Error("there is no cgroup 2 here");
  return cgroupFolder(place.slice("0::".length));
}

/** The folder of a cgroup that is named as in /proc/<pid>/cgroup. */
export function cgroupFolder(path: string): string {
  // `36 35 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw`: its root in the hierarchy, and where it is mounted.
  const mount = linesOf("/proc/self/mountinfo").find((line) => line.includes(" - cgroup2 "));
  const [, , , root = "", point = ""] = mount?.split(" ") ?? [];
  if (point === "") throw new Error("there is no cgroup 2 here");
  if (root !== "/" && !path.startsWith(root)) throw new Error("its own cgroup is not mounted");
  return join(point, root === "/" ? path : path.slice(root.length));
}

function enter(path: string): void {
  writeFileSync(join(path, "cgroup.procs"), "0");
}

/** A path comes from a record: nothing but a cgroup of this program is ever killed or removed. */
function isOurs(path: string): boolean {
  return NAME.test(basename(path)) && existsSync(join(path, "cgroup.procs"));
}

/** Parents first. */
function below(path: string): readonly string[] {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.flatMap(({ name }) => [join(path, name), ...below(join(path, name))]);
  } catch {
    return [];
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
