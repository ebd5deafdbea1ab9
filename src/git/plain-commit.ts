// Commits that are not packed: Passrail reads and writes them by itself in the ordinary case. The hash proves what was read; everything
// unusual is for git.

import { deflateSync } from "node:zlib";
import type { CommitFacts } from "./known-commits.ts";
import { objectName, readObject, storeLoose } from "./loose-object.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

const COMMIT_BYTES = 64 * 1024;
const HEADER = /^commit (\d+)\0tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author /u;

/** What a commit says, from the object itself. Also for git: one that is packed, large, damaged or not there. */
export function readPlainCommit(commonDir: string, id: string): CommitFacts | AskGit {
  const bytes = readObject(commonDir, id, 4 * COMMIT_BYTES);
  if (bytes === ASK_GIT) return ASK_GIT;
  const [, size, tree = "", lines = ""] = HEADER.exec(bytes.toString("latin1")) ?? [];
  if (Number(size) !== bytes.length - bytes.indexOf(0) - 1) return ASK_GIT;
  const parents = lines.split("\n").flatMap((line) => (line === "" ? [] : [line.slice("parent ".length)]));
  return { tree, parents };
}

export type Person = { readonly name: string; readonly email: string };

const PLAIN_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} _-]{0,98}[\p{L}\p{N}])?$/u;
const PLAIN_EMAIL = /^[A-Za-z0-9][A-Za-z0-9._+@-]{0,98}[A-Za-z0-9]$/u;

/** git cleans names in ways of its own; these it leaves as they are. */
export function isPlainPerson({ name, email }: Person): boolean {
  return PLAIN_NAME.test(name) && PLAIN_EMAIL.test(email);
}

export type NewCommit = CommitFacts & { readonly by: Person; readonly message: string; readonly at: Date };

/** As `git commit-tree -m` would write it; its id. The caller has made sure of the tree and the parents. */
export function writePlainCommit(commonDir: string, commit: NewCommit): string | AskGit {
  const { tree, parents, by, message, at } = commit;
  if (!isPlainPerson(by) || message === "" || !message.isWellFormed()) return ASK_GIT;
  if (message.includes("\0") || message.length > COMMIT_BYTES / 8) return ASK_GIT;
  const who = signed(by, at);
  const head = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`];
  const body = Buffer.from(`${head.join("\n")}\n\n${message}${message.endsWith("\n") ? "" : "\n"}`);
  const bytes = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body]);
  const id = objectName(bytes, tree.length);
  return storeLoose(commonDir, { id, bytes: deflateSync(bytes) }) ? id : ASK_GIT;
}

/** A person and a moment as commits and reflogs name them. */
export function signed({ name, email }: Person, at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const away = Math.abs(minutes);
  const zone = [Math.floor(away / 60), away % 60].map((part) => String(part).padStart(2, "0")).join("");
  return `${name} <${email}> ${Math.floor(at.getTime() / 1000)} ${minutes < 0 ? "-" : "+"}${zone}`;
}
