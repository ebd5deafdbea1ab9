// The files that a program sees in its sandbox: the system, its own files, the workspace's home and /tmp, the clone, and the attempt's
// folders. Neither the user's project nor the state folder is among them.

import { realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import { contains } from "../shared/contains.ts";
import { existing } from "../shared/existing.ts";
import { loginFolder, openPrivate, PRIVATE_HOME, PRIVATE_TMP } from "../shared/private-folder.ts";
import type { Launch } from "../../workspace.ts";
import type { Mount } from "./mount.ts";
import { loginOf } from "./logins.ts";
import { programMounts } from "./program.ts";
import { systemMounts } from "./system.ts";
import { prepareTargets } from "./targets.ts";
import { userInside, userMounts } from "./user.ts";

export type BubblewrapSettings = {
  readonly network?: "on" | "off" | undefined;
  readonly read?: readonly string[] | undefined;
  readonly write?: readonly string[] | undefined;
  readonly logins?: "on" | "off" | undefined;
};

export type InsideFolders = {
  /** The state folder. */
  readonly home: string;
  /** The whole clone. */
  readonly top: string;
  /** Passrail's folder for this workspace. */
  readonly own: string;
  /** The user's repository, if known. */
  readonly repository: string | undefined;
  /** Folders that the operator shares with all workspaces. */
  readonly caches: readonly string[];
};

export type Inside = { readonly mounts: readonly Mount[]; readonly home: string };

export async function lookInside(
  launch: Launch,
  place: InsideFolders,
  settings: BubblewrapSettings,
  userHome: string,
): Promise<Result<Inside>> {
  const home = isAbsolute(userHome) && userHome !== "/" ? userHome : "/home/agent";
  const privates: Mount[] = [];
  const keep = async (target: string, name: string): Promise<Result<null>> => {
    const folder = await openPrivate(place.own, name);
    if (!folder.ok) return folder;
    privates.push({ kind: "write", source: folder.value, target });
    return ok(null);
  };
  const login = settings.logins === "off" ? NO_LOGIN : await loginOf(launch, home);
  const outside = login.folders.filter((folder) => !contains(home, folder));
  const wanted = [
    ["/tmp", PRIVATE_TMP],
    [home, PRIVATE_HOME],
    ...outside.map((folder, index) => [folder, loginFolder(index)]),
  ];
  for (const [target = "", name = ""] of wanted) {
    const kept = await keep(target, name);
    if (!kept.ok) return kept;
  }
  const user = await userMounts(userInside(), home, place.own);
  if (!user.ok) return user;
  const chosen = await chosenMounts(settings, home, place.home);
  if (!chosen.ok) return chosen;
  const project = place.repository === undefined ? [] : [place.repository, ...workTreeOf(place.repository)];
  const mounts: Mount[] = [
    ...systemMounts(),
    ...user.value,
    ...privates,
    ...programMounts(launch, { top: place.top, userHome: home, closed: [home, place.home, tmpdir(), ...project] }),
    ...login.read.map((path) => same("read", path)),
    ...login.write.map((path) => same("write", path)),
    ...chosen.value,
    ...[place.top, ...(await existing(place.caches)), ...launch.folders].map((path) => same("write", path)),
    ...(launch.reads ?? []).map((path) => same("read", path)),
  ];
  const needed = mounts.filter((mount) => !isSeenAnyway(mount, mounts));
  prepareTargets(needed, privates);
  return ok({ mounts: needed, home });
}

const NO_LOGIN = { folders: [], read: [], write: [] };

const same = (kind: "read" | "write", path: string): Mount => ({ kind, source: path, target: path });

/** The mounts that the settings add. Never the state folder: it holds the API keys and other runs' work. */
async function chosenMounts(
  settings: BubblewrapSettings,
  userHome: string,
  stateFolder: string,
): Promise<Result<readonly Mount[]>> {
  const mounts: Mount[] = [];
  for (const kind of ["read", "write"] as const) {
    for (const said of settings[kind] ?? []) {
      const path = said === "~" || said.startsWith("~/") ? join(userHome, said.slice(1)) : said;
      const real = isAbsolute(path) ? await realpath(path).catch(() => null) : null;
      if (real === null || (await stat(real).catch(() => null)) === null) {
        return err(badSetting(kind, said, "does not exist or is not absolute"));
      }
      if (contains(real, stateFolder) || contains(stateFolder, real)) {
        return err(badSetting(kind, said, `would show the state folder ${stateFolder}`));
      }
      mounts.push({ kind, source: real, target: path });
    }
  }
  return ok(mounts);
}

function badSetting(kind: string, said: string, why: string): Problem {
  return {
    code: "sandbox_setting_invalid",
    message: `workspaces.bubblewrap.${kind}: ${said} ${why}.`,
    hint: "Change it in passrail.yaml; `passrail config` says which file it comes from",
  };
}

const workTreeOf = (repository: string): readonly string[] =>
  basename(repository) === ".git" ? [dirname(repository)] : [];

/** Whether another mount shows it already; mounting it again would need a place in a read-only folder. */
function isSeenAnyway(mount: Mount, all: readonly Mount[]): boolean {
  if (mount.kind === "write") return false;
  const above = all
    .filter(({ target }) => target !== mount.target && contains(target, mount.target))
    .toSorted((a, b) => b.target.length - a.target.length)[0];
  // /bin/sh on a machine whose /bin is a link to usr/bin.
  if (above?.kind === "link") return true;
  return above?.kind === "read" && above.source === above.target;
}
