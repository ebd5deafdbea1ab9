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

type Pairs = readonly (readonly [key: string, value: string])[];
type Parse = (bytes: Buffer) => Promise<Pairs | null>;

const REMEMBERED_AT_MOST = 200;
const parsed = new Map<string, Pairs>();

/**
 * The settings of a repository. git parses the bytes from its input, so the answer depends on nothing else and is remembered by their hash.
 * Settings that come from more than this one file are for git.
 */
export async function settingsOfFile(commonDir: string, parse: Parse): Promise<Pairs | AskGit> {
  const bytes = readPlain(join(commonDir, "config"), CONFIG_BYTES);
  if (bytes === null || bytes === ASK_GIT) return ASK_GIT;
  const hash = createHash("sha256").update(bytes).digest("hex");
  const pairs = parsed.get(hash) ?? (await parse(bytes));
  if (pairs === null || pairs.some(([key]) => /^include(?:if)?\.|^extensions\.worktreeconfig$/u.test(key)))
    return ASK_GIT;
  const [oldest] = parsed.keys();
  if (!parsed.has(hash) && parsed.size >= REMEMBERED_AT_MOST && oldest !== undefined) parsed.delete(oldest);
  parsed.set(hash, pairs);
  return pairs;
}
