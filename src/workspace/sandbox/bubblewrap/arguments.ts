// The command line of bwrap, built from the mounts. Anything not named here does not exist in the sandbox.

import type { Mount } from "./mount.ts";
import type { User } from "./user.ts";

/** A separate process tree that ends with Passrail, and no terminal that a program could push input into. */
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
    // Folders between the mounts are not persistent: a write there would only seem to succeed.
    "--remount-ro",
    "/",
    "--chdir",
    inside.cwd,
  ];
}

const OPTION = { read: "--ro-bind", write: "--bind", link: "--symlink" } as const;

/** Folders before their contents, because a mount hides earlier ones below it; of two for the same place the later one counts. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const last = new Map(mounts.map((mount) => [mount.target, mount]));
  return [...last.values()].toSorted((a, b) => depth(a.target) - depth(b.target));
}

const depth = (path: string): number => path.split("/").filter((part) => part !== "").length;
