// A file system of a few megabytes, where the machine lets us make one (root on Linux): for disks that are full.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type SmallDisk = { mount(): string; unmount(disk: string): void };

export function smallDisk(megabytes: number): SmallDisk | undefined {
  const mount = (): string => {
    const disk = mkdtempSync(join(tmpdir(), "passrail-disk-"));
    const options = `size=${megabytes}m,mode=0700`;
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk], { stdio: "pipe" });
    return disk;
  };
  const unmount = (disk: string): void => {
    execFileSync("umount", [disk], { stdio: "pipe" });
    rmSync(disk, { recursive: true });
  };
  try {
    unmount(mount());
    return { mount, unmount };
  } catch {
    console.warn("no small file system can be mounted here: tests of a full disk are skipped");
    return undefined;
  }
}
