// Worktrees share the user's .git. The user's own git would run hooks and configured programs that an agent plants there. The guard
// compares both before and after each attempt, quarantines changes and reports them.

import { createHash } from "node:crypto";
import { copyFile, lstat, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { git, inRepository } from "../git/git.ts";

type Seen = {
  /** Name -> hash of the content. */
  readonly hooks: ReadonlyMap<string, string>;
  readonly attributes: string | null;
  /** Text of the configuration; null if unreadable. */
  readonly config: string | null;
};

type Settings = readonly (readonly [key: string, value: string])[];

const FILE_BYTES = 1024 * 1024;

/** Settings that make git start a program, read another file or talk to another place. */
const DANGEROUS =
  /^(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor|askpass|alternaterefscommand|gitproxy|worktree|attributesfile)|diff\.external|diff\..*\.(?:command|textconv)|filter\..*|merge\..*\.driver|alias\..*|pager\..*|include\.path|includeif\..*|credential(?:\..*)?\.helper|gpg\..*|sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|proxy|vcs)|url\..*|protocol\..*|browser\..*|difftool\..*|mergetool\..*|guitool\..*|man\..*|web\.browser|submodule\..*\.update|trailer\..*|extensions\.worktreeconfig)$/u;

export async function guardRepository(
  commonDir: string,
  quarantine: string,
): Promise<() => Promise<readonly string[]>> {
  const before = await look(commonDir);
  return async () => {
    const after = await look(commonDir);
    const place = join(quarantine, new Date().toISOString().replace(/[:.]/gu, "-"));
    const put = async (name: string, move: boolean): Promise<void> => {
      await mkdir(place, { recursive: true, mode: 0o700 });
      const target = join(place, name.replaceAll("/", "-"));
      await (move
        ? rename(join(commonDir, name), target).catch(() => copyAway(join(commonDir, name), target))
        : copyFile(join(commonDir, name), target));
    };
    return [
      ...(await undoHooks(before, after, put)),
      ...(await undoAttributes(before, after, put)),
      ...(await undoSettings(commonDir, before, after, put)),
    ].map((what) => `repository_config_changed: ${what}; what was there is in ${place}`);
  };
}

type Put = (name: string, move: boolean) => Promise<void>;

/** New hooks and changed ones: neither may run. */
async function undoHooks(before: Seen, after: Seen, put: Put): Promise<string[]> {
  const said: string[] = [];
  for (const [name, hash] of after.hooks) {
    if (before.hooks.get(name) === hash) continue;
    await put(`hooks/${name}`, true);
    said.push(`the hook ${name.slice(0, 80)} appeared or changed during the attempt and was taken away`);
  }
  return said;
}

async function undoAttributes(before: Seen, after: Seen, put: Put): Promise<string[]> {
  if (after.attributes === null || after.attributes === before.attributes) return [];
  await put("info/attributes", true);
  return ["info/attributes appeared or changed during the attempt and was taken away"];
}

/** Only settings that name programs: a new remote or tracked branch may be the user's own change. */
async function undoSettings(commonDir: string, before: Seen, after: Seen, put: Put): Promise<string[]> {
  if (after.config === null || before.config === null || after.config === before.config) return [];
  const known = await settingsIn(commonDir, before.config);
  const now = await settingsIn(commonDir, after.config);
  const keys = new Set([...known, ...now].map(([key]) => key).filter((key) => DANGEROUS.test(key)));
  const valuesOf = (settings: Settings, key: string): string[] =>
    settings.filter(([name]) => name === key).map(([, value]) => value);
  const changed = [...keys].filter(
    (key) => JSON.stringify(valuesOf(known, key)) !== JSON.stringify(valuesOf(now, key)),
  );
  if (changed.length === 0) return [];
  await put("config", false);
  const config = (...args: string[]) =>
    git(commonDir, ["config", "--file", join(commonDir, "config"), ...args], inRepository(commonDir));
  for (const key of changed) {
    await config("--unset-all", key);
    for (const value of valuesOf(known, key)) await config("--add", key, value);
  }
  return [`the settings ${changed.join(", ").slice(0, 300)} changed during the attempt and were set back`];
}

async function look(commonDir: string): Promise<Seen> {
  const names = await readdir(join(commonDir, "hooks")).catch(() => []);
  const hooks = new Map<string, string>();
  for (const name of names) {
    if (name.endsWith(".sample")) continue;
    hooks.set(name, (await hashOf(join(commonDir, "hooks", name))) ?? "gone");
  }
  const config = await readFile(join(commonDir, "config"), "utf8").catch(() => null);
  return { hooks, attributes: await hashOf(join(commonDir, "info", "attributes")), config };
}

/** git parses the text from its input: includes are not followed. */
async function settingsIn(commonDir: string, text: string): Promise<Settings> {
  const args = ["config", "--file", "-", "--null", "--list"];
  const listed = await git(commonDir, args, { ...inRepository(commonDir), input: text });
  if (!listed.ok) return [];
  return listed.value
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [key = "", ...rest] = entry.split("\n");
      return [key, rest.join("\n")] as const;
    });
}

async function hashOf(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  // A link or a huge file is compared by its metadata; git would follow it anyway.
  if (!found.isFile() || found.size > FILE_BYTES) return `${found.ino}:${found.size}:${found.mtimeMs}`;
  return createHash("sha256")
    .update(await readFile(path))
    .update(String(found.mode))
    .digest("hex");
}

/** The quarantine may be on another file system. */
async function copyAway(from: string, to: string): Promise<void> {
  const { cp, rm } = await import("node:fs/promises");
  await cp(from, to, { recursive: true, dereference: false });
  await rm(from, { recursive: true, force: true });
}
