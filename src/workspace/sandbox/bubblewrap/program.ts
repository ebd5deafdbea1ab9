// The files that an agent's program needs besides the system's folders: itself, its package and its interpreter. Only the operator's
// command counts: an agent can change files in the workspace.

import { open, realpath, stat } from "node:fs/promises";
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

export async function programMounts(launch: Launch, place: ProgramPlace): Promise<readonly Mount[]> {
  const [program, ...args] = launch.argv;
  const mounts: Mount[] = [];
  const add = async (path: string): Promise<void> => {
    if (contains(place.top, path)) return;
    mounts.push(...(await fileMounts(path, place)));
    const interpreter = await interpreterOf(path, launch.env);
    if (interpreter !== null) mounts.push(...(await fileMounts(interpreter, place)));
  };
  await add(program);
  // `node /opt/agent/main.mjs /opt/agent/settings.json`: as long as files follow. Arguments after the first other word may come from an
  // agent, such as the name of a session.
  for (const arg of args) {
    if (!isAbsolute(arg) || !(await isFile(arg))) break;
    await add(arg);
  }
  // Passrail needs Node, and most of its users' projects do too: this lets scripts in the workspace find it.
  const node = await onPath(launch.env, "node");
  if (node !== null) await add(node);
  return mounts;
}

/** Keeps a link as a link: programs find their package by their real path. */
async function fileMounts(path: string, place: ProgramPlace): Promise<readonly Mount[]> {
  const real = await realpath(path).catch(() => null);
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
async function interpreterOf(path: string, env: Launch["env"]): Promise<string | null> {
  const line = await firstLine(path);
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

async function firstLine(path: string): Promise<string> {
  if (!(await isFile(path))) return "";
  const file = await open(path, "r").catch(() => null);
  if (file === null) return "";
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString("latin1", 0, bytesRead).split("\n")[0] ?? "";
  } finally {
    await file.close();
  }
}

async function onPath(env: Launch["env"], name: string): Promise<string | null> {
  if (name.includes(sep)) return isAbsolute(name) ? name : null;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (isAbsolute(folder) && (await isFile(join(folder, name)))) return join(folder, name);
  }
  return null;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
