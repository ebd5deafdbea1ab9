// The command line of bwrap, made from what shall be seen inside. Whatever is not named here does not exist in the sandbox.

import type { Mount } from "./mount.ts";
import type { User } from "./user.ts";

/** A process tree of its own that ends with us, and no terminal into which input could be pushed. */
export const NAMESPACES: readonly string[] = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
];

export function bubblewrapArguments(inside: {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  readonly network: "on" | "off";
  readonly user: User;
}): readonly string[] {
  return [
    ...NAMESPACES,
    ...(inside.network === "off" ? ["--unshare-net"] : []),
    "--uid",
    String(inside.user.uid),
    "--gid",
    String(inside.user.gid),
    "--hostname",
    "passrail",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...inOrder(inside.mounts).flatMap(({ kind, source, target }) => [OPTION[kind], source, target]),
    // What lies between the mounts is nobody's: a write there would only seem to succeed.
    "--remount-ro",
    "/",
    "--chdir",
    inside.cwd,
  ];
}

const OPTION = { read: "--ro-bind", write: "--bind", link: "--symlink" } as const;

/** Folders before what lies in them, because a mount hides what was there; of two for the same place the later one counts. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const last = new Map(mounts.map((mount) => [mount.target, mount]));
  return [...last.values()].toSorted((a, b) => depth(a.target) - depth(b.target));
}

const depth = (path: string): number => path.split("/").filter((part) => part !== "").length;
