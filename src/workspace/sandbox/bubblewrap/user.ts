// The user inside the sandbox: never root, even if Passrail runs as root. Agents' programs refuse to work as root, and a root without its
// capabilities cannot create their own sandboxes. The machine's other users stay hidden.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../../../core/result.ts";
import { openPrivate } from "../shared/private-folder.ts";
import type { Mount } from "./mount.ts";

export type User = { readonly uid: number; readonly gid: number };

/** Files keep their owner outside: the sandbox maps this user to the one that runs Passrail. */
export function userInside(): User {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  return { uid: uid === 0 ? 1000 : uid, gid: gid === 0 ? 1000 : gid };
}

/** /etc/passwd and /etc/group with this one user. */
export async function userMounts({ uid, gid }: User, home: string, own: string): Promise<Result<readonly Mount[]>> {
  const folder = await openPrivate(own, "etc");
  if (!folder.ok) return folder;
  // In passwd, such a character would start another line or field.
  const shown = /[:\r\n]/u.test(home) ? "/" : home;
  const shell = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
  const files = {
    passwd: `agent:x:${uid}:${gid}::${shown}:${shell}\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    group: `agent:x:${gid}:\nnogroup:x:65534:\n`,
  };
  const mounts: Mount[] = [];
  for (const [name, text] of Object.entries(files)) {
    const source = join(folder.value, name);
    // Writing over it takes longer than all other steps of a start, and a program that already runs there could read half of it.
    if (textOf(source) !== text) writeFileSync(source, text, { mode: 0o600 });
    mounts.push({ kind: "read", source, target: join("/etc", name) });
  }
  return ok(mounts);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
