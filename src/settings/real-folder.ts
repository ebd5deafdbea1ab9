// Whether a folder can hold Passrail's state. A pseudo file system of the kernel takes no files: programs that wait for theirs never end.

import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Problem } from "../core/result.ts";

/** File systems of Linux that hold no files of users, by the number that statfs gives. */
const PSEUDO: Readonly<Record<number, string>> = {
  0x9fa0: "proc",
  0x62656572: "sysfs",
  0x64626720: "debugfs",
  0x74726163: "tracefs",
  0x73636673: "securityfs",
  0x1cd1: "devpts",
  0x27e0eb: "cgroup",
  0x63677270: "cgroup2",
  0x6e736673: "nsfs",
  0x19800202: "mqueue",
  0x62656570: "configfs",
  0x6165676c: "pstore",
  0xcafe4a11: "bpf",
  0x42494e4d: "binfmt_misc",
  0x65735543: "fusectl",
};

const CHOOSE = "Choose another state folder: PASSRAIL_HOME or --home";

/** Undefined if the folder, or the nearest one above it that exists, is a folder on a file system for files. */
export function stateFolderProblem(home: string): Problem | undefined {
  let there = resolve(home);
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  if (!statSync(there).isDirectory())
    return { code: "home_unusable", message: `${there} is a file, not a folder for Passrail's state.`, hint: CHOOSE };
  const name = process.platform === "linux" ? PSEUDO[statfsSync(there).type] : undefined;
  if (name === undefined) return undefined;
  return {
    code: "home_unusable",
    message: `${home} is on ${name}, a file system of the kernel that keeps no files.`,
    hint: CHOOSE,
  };
}
