// The machine for `doctor`: Node with its SQLite, git, the state folder and the room on its disk.

import { accessSync, chmodSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../../core/result.ts";
import { git } from "../../git/git.ts";
import { requireSqlite } from "../../store/sqlite/version.ts";
import { bad, type Checkup, doubtful, good } from "./checkup.ts";

const OLDEST_GIT = [2, 39] as const;
const MB = 1024 ** 2;
const LITTLE_ROOM = 2048 * MB;
const NO_ROOM = 200 * MB;

export async function lookAtMachine(home: string): Promise<readonly Checkup[]> {
  return [node(), await gitProgram(), stateFolder(home), disk(home)];
}

export function node({ node: version, sqlite = "" }: NodeJS.ProcessVersions = process.versions): Checkup {
  try {
    requireSqlite(sqlite);
    return good("node", `Node ${version} with SQLite ${sqlite}`);
  } catch (error) {
    const { hint } = error as { hint?: string };
    return bad("node", `Node ${version}: ${messageOf(error)}`, hint ?? "");
  }
}

async function gitProgram(): Promise<Checkup> {
  const said = await git("/", ["version"]);
  if (!said.ok) return bad("git", said.error.message, said.error.hint ?? "");
  const version = /\d{1,6}\.\d{1,6}[\d.]{0,20}/u.exec(said.value)?.[0] ?? "of an unknown version";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1]);
  return isOld
    ? bad("git", `git ${version}`, `Install git ${OLDEST_GIT.join(".")} or newer.`)
    : good("git", `git ${version}`);
}

export function stateFolder(home: string): Checkup {
  const there = existing(home);
  const stat = statSync(there);
  const choose = "choose another one: PASSRAIL_HOME or --home";
  if (!stat.isDirectory()) return bad("state folder", `${there} is a file`, `Remove it, or ${choose}`);
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return bad("state folder", `${there} cannot be written by you`, `chown or chmod it, or ${choose}`);
  }
  if (there !== home) return good("state folder", `${home} (the first run creates it)`);
  const isOpen = (stat.mode & 0o077) !== 0 && process.platform !== "win32";
  if (!isOpen) return good("state folder", home);
  return {
    ...doubtful("state folder", `${home} is open to other users`, `chmod 700 ${home}`),
    mend() {
      chmodSync(home, 0o700);
      return `${home} is yours alone now`;
    },
  };
}

function disk(home: string): Checkup {
  const { bavail, bsize } = statfsSync(existing(home));
  const free = bavail * bsize;
  const found = `${Math.floor(free / MB)} MB free`;
  const fix = "passrail workspace clean   removes workspaces of ended runs";
  if (free < NO_ROOM) return bad("disk", found, fix);
  return free < LITTLE_ROOM ? doubtful("disk", found, fix) : good("disk", found);
}

/** The folder, or the nearest one above it. */
function existing(folder: string): string {
  let there = folder;
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  return there;
}
