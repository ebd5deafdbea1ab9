// What the configuration of a repository says about where things are, as far as the text shows it without a doubt. Section and key names
// appear in it literally (only values can be quoted or continued), so a word that is nowhere in the text is no part of any of them.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { ASK_GIT, type AskGit, readPlain } from "./plain-file.ts";

const CONFIG_BYTES = 1024 * 1024;

export function readConfigText(commonDir: string): string | AskGit {
  const bytes = readPlain(join(commonDir, "config"), CONFIG_BYTES);
  return bytes === null || bytes === ASK_GIT ? ASK_GIT : bytes.toString("latin1");
}

/** The length of an object's id where refs are plain files; git is asked about every other way of storing them. */
export function idLength(config: string): 40 | 64 | AskGit {
  const format = [...config.matchAll(/^.*objectformat.*$/gimu)].map(([line]) => line.trim().toLowerCase());
  if (/refstorage/iu.test(config)) return ASK_GIT;
  if (format.length === 0) return 40;
  if (format.every((line) => line === "objectformat = sha256")) return 64;
  return format.every((line) => line === "objectformat = sha1") ? 40 : ASK_GIT;
}

/** The bytes of an object's id in this repository. */
export function idBytesOf(commonDir: string): 20 | 32 | AskGit {
  const config = readConfigText(commonDir);
  const length = config === ASK_GIT ? ASK_GIT : idLength(config);
  return length === ASK_GIT ? ASK_GIT : length === 40 ? 20 : 32;
}

const ORDINARY = [/^bare = false$/u, /^repositoryformatversion = [01]$/u, /^objectformat = sha(?:1|256)$/u];

/** Whether the folder that contains the .git folder is its work tree, with nothing that git would refuse or look up elsewhere. */
export function isOrdinary(config: string): boolean {
  if (/include|worktree|refstorage/iu.test(config)) return false;
  const special = /^.*(?:bare|repositoryformatversion|objectformat).*$/gimu;
  for (const [line] of config.matchAll(special))
    if (!ORDINARY.some((known) => known.test(line.trim().toLowerCase()))) return false;
  // The only extension that changes nothing here.
  return !/extensions/iu.test(config.replace(/\[extensions\]\n\tobjectformat = sha(?:1|256)\n/iu, ""));
}

/** Whether files of this repository are written the way git does without a setting: modes, reflogs, syncing, encoding. */
export function isPlainlyWritten(config: string): boolean {
  if (!isOrdinary(config) || /sharedrepository|fsync|i18n|compat/iu.test(config)) return false;
  const logs = [...config.matchAll(/^.*logallrefupdates.*$/gimu)].map(([line]) => line.trim().toLowerCase());
  return logs.every((line) => line === "logallrefupdates = true");
}

type Pairs = readonly (readonly [key: string, value: string])[];
type Parse = (bytes: Buffer) => Promise<Pairs | null>;

const REMEMBERED_AT_MOST = 200;
const parsed = new Map<string, Pairs>();

const SECTION = /^\[([A-Za-z][A-Za-z0-9-]*)(?: "([^"\\]*)")?\]$/u;
const SETTING = /^\t([A-Za-z][A-Za-z0-9-]*) = ([^"\\#; ]+(?: [^"\\#; ]+)*)$/u;

/** The settings of a text that git itself wrote: one per line, nothing quoted, no comment. Null for any other: git parses it. */
export function parsePlainConfig(bytes: Buffer): Pairs | null {
  const text = bytes.toString("latin1");
  // Only what can be printed, tabs and ends of lines.
  if (!/^[\x20-\x7e\t\n]*$/u.test(text) || !text.endsWith("\n")) return null;
  const pairs: (readonly [string, string])[] = [];
  let prefix: string | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, section, below] = SECTION.exec(line) ?? [];
    const [, key, value = ""] = SETTING.exec(line) ?? [];
    if (section !== undefined) prefix = `${section.toLowerCase()}.${below === undefined ? "" : `${below}.`}`;
    else if (key !== undefined && prefix !== null && !value.includes("\t"))
      pairs.push([`${prefix}${key.toLowerCase()}`, value]);
    else return null;
  }
  return pairs;
}

/**
 * The settings of a repository. git parses unusual ones from its input, so the answer depends on nothing but the bytes and is remembered by their hash.
 * Settings that come from more than this one file are for git.
 */
export async function settingsOfFile(commonDir: string, parse: Parse): Promise<Pairs | AskGit> {
  const bytes = readPlain(join(commonDir, "config"), CONFIG_BYTES);
  if (bytes === null || bytes === ASK_GIT) return ASK_GIT;
  const hash = createHash("sha256").update(bytes).digest("hex");
  const pairs = parsed.get(hash) ?? parsePlainConfig(bytes) ?? (await parse(bytes));
  if (pairs === null || pairs.some(([key]) => /^include(?:if)?\.|^extensions\.worktreeconfig$/u.test(key)))
    return ASK_GIT;
  const [oldest] = parsed.keys();
  if (!parsed.has(hash) && parsed.size >= REMEMBERED_AT_MOST && oldest !== undefined) parsed.delete(oldest);
  parsed.set(hash, pairs);
  return pairs;
}
