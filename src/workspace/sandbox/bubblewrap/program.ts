// The files that an agent's program needs besides the system's folders: itself, its package and its interpreter. Only the operator's
// command counts: an agent can change files in the workspace.

import { closeSync, constants, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, sep } from "node:path";
import { contains } from "../shared/contains.ts";
import type { Launch } from "../../workspace.ts";
import type { Mount } from "./mount.ts";

export type ProgramPlace = {
  /** The whole workspace, which is visible anyway. */
  readonly top: string;
  readonly userHome: string;
  /** Folders with secrets or other people's work: no folder that contains one of them is shown as a whole. */
  readonly closed: readonly string[];
};

/** At once: a dozen looks through the pool of threads take a millisecond, and several on a busy machine. */
export function programMounts(launch: Launch, place: ProgramPlace): readonly Mount[] {
  const [program, ...args] = launch.argv;
  const mounts: Mount[] = [];
  const add = (path: string): void => {
    if (contains(place.top, path)) return;
    mounts.push(...fileMounts(path, place));
    const interpreter = interpreterOf(path, launch.env);
    if (interpreter !== null) mounts.push(...fileMounts(interpreter, place));
  };
  add(program);
  // `node /opt/agent/main.mjs /opt/agent/settings.json`: as long as files follow. Arguments after the first other word may come from an
  // agent, such as the name of a session.
  for (const arg of args) {
    if (!isAbsolute(arg) || !isFile(arg)) break;
    add(arg);
  }
  // Passrail needs Node, and most of its users' projects do too: this lets scripts in the workspace find it.
  const node = onPath(launch.env, "node");
  if (node !== null) add(node);
  return mounts;
}

/** Keeps a link as a link: programs find their package by their real path. */
function fileMounts(path: string, place: ProgramPlace): readonly Mount[] {
  const real = realOf(path);
  if (real === null) return [];
  const folder = folderOf(real, place);
  const own: Mount = { kind: "read", source: folder, target: folder };
  return real === path || contains(folder, path) ? [own] : [own, { kind: "link", source: real, target: path }];
}

/** The package, else the prefix that a bin/ belongs to, else the folder, else the file alone. */
function folderOf(real: string, { closed, userHome }: ProgramPlace): string {
  const isOpen = (folder: string): boolean => folder !== "/" && !closed.some((secret) => contains(folder, secret));
  const modules = real.indexOf(`${sep}node_modules${sep}`);
  if (modules !== -1) return `${real.slice(0, modules)}${sep}node_modules`;
  const dir = dirname(real);
  const prefix = dirname(dir);
  // ~/.cargo/bin is next to ~/.cargo/credentials.toml: a folder directly in a home is not shown for the sake of its bin.
  if (basename(dir) === "bin" && dirname(prefix) !== userHome && isOpen(prefix)) return prefix;
  return isOpen(dir) ? dir : real;
}

/** From the first line of a script: `#!/usr/bin/env node`, `#!/opt/python/bin/python3 -u`. */
function interpreterOf(path: string, env: Launch["env"]): string | null {
  const line = firstLine(path);
  if (!line.startsWith("#!")) return null;
  const words = line
    .slice(2)
    .trim()
    .split(/[ \t]+/u);
  const [first = ""] = words;
  if (basename(first) !== "env") return isAbsolute(first) ? first : null;
  const name = words.slice(1).find((word) => !word.startsWith("-") && !word.includes("="));
  return name === undefined ? null : onPath(env, name);
}

function realOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function firstLine(path: string): string {
  // Never a pipe, which could keep this process waiting.
  if (!isFile(path)) return "";
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const buffer = Buffer.alloc(256);
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)).split("\n")[0] ?? "";
  } finally {
    closeSync(file);
  }
}

function onPath(env: Launch["env"], name: string): string | null {
  if (name.includes(sep)) return isAbsolute(name) ? name : null;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (isAbsolute(folder) && isFile(join(folder, name))) return join(folder, name);
  }
  return null;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
