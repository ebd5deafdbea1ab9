// Which changes of a repository's control area count as a person's ordinary work beside an agent: a new remote, a branch that is tracked or
// deleted, a worktree that is added or removed. Everything else is put back.

import { createHash } from "node:crypto";
import { git, inRepository } from "../git/git.ts";
import type { ControlEntry } from "./control-area.ts";

const COMMONDIR = createHash("sha256").update("../..\n").digest("hex");
const EMPTY = createHash("sha256").digest("hex");

export async function mayChange(
  commonDir: string,
  name: string,
  before: ControlEntry | undefined,
  after: ControlEntry | undefined,
): Promise<boolean> {
  // An empty folder does nothing.
  if (before === undefined && after?.kind === "folder") return true;
  if (name === "config") return before?.mode === after?.mode && mayChangeSettings(commonDir, before, after);
  const file = /^worktrees(?:\/[^/]+(?:\/(.+))?)?$/u.exec(name);
  if (file === null) return false;
  // git removes the registration of a worktree as a whole, and the folder of all with the last one.
  if (after === undefined) return true;
  if (after.kind !== "file" || !isMadeAnew(before, after)) return false;
  return file[1] === "gitdir" || (file[1] === "commondir" && after.content === COMMONDIR);
}

/** A crash leaves a worktree's files empty, and whoever makes it again under the same name may have another umask; the words stay the same. */
function isMadeAnew(before: ControlEntry | undefined, after: ControlEntry): boolean {
  if (before === undefined) return true;
  return before.kind === "file" && (before.content === EMPTY || before.content === after.content);
}

/** By section: what changed is a remote that was not there before, or the tracking of a branch. */
async function mayChangeSettings(
  commonDir: string,
  before: ControlEntry | undefined,
  after: ControlEntry | undefined,
): Promise<boolean> {
  if (before?.bytes == null || after?.bytes == null) return false;
  const known = await settingsIn(commonDir, before.bytes);
  const now = await settingsIn(commonDir, after.bytes);
  if (known === null || now === null) return false;
  const remotes = new Set([...known.keys()].flatMap((key) => /^(remote\..*)\.[^.]+$/u.exec(key)?.[1] ?? []));
  const keys = [...new Set([...known.keys(), ...now.keys()])].filter((key) => known.get(key) !== now.get(key));
  return keys.every((key) => isOrdinary(key, known.has(key), now.has(key), remotes));
}

function isOrdinary(key: string, wasThere: boolean, isThere: boolean, remotes: ReadonlySet<string>): boolean {
  if (/^branch\..*\.(?:remote|merge|rebase|description|pushremote)$/u.test(key)) return !wasThere || !isThere;
  const remote = /^(remote\..*)\.(?:url|fetch)$/u.exec(key)?.[1];
  return remote !== undefined && !remotes.has(remote);
}

/** git parses the text from its input and follows no include. Null if it cannot. */
async function settingsIn(commonDir: string, bytes: string): Promise<ReadonlyMap<string, string> | null> {
  const args = ["config", "--no-includes", "--file", "-", "--null", "--list"];
  const input = Buffer.from(bytes, "base64").toString("latin1");
  const listed = await git(commonDir, args, { ...inRepository(commonDir), input, encoding: "latin1" });
  if (!listed.ok) return null;
  const settings = new Map<string, string>();
  for (const entry of listed.value.split("\0").filter((each) => each !== "")) {
    const [key = "", ...rest] = entry.split("\n");
    settings.set(key, `${settings.get(key) ?? ""}\n${rest.join("\n")}`);
  }
  return settings;
}
