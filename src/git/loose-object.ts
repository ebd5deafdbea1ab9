// Objects as git stores them before it packs them: one compressed file each, named by the hash of its content.

import { createHash, randomBytes } from "node:crypto";
import { closeSync, linkSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { ASK_GIT, type AskGit, isBelowFolders, readPlain, statPlain } from "./plain-file.ts";

/** `bytes` are compressed. */
export type LooseObject = { readonly id: string; readonly bytes: Buffer };

const looseFolder = (id: string): readonly [folder: string, name: string] => [id.slice(0, 2), id.slice(2)];

/** Where git keeps an object that is not packed. */
export const looseFile = (commonDir: string, id: string): string => join(commonDir, "objects", ...looseFolder(id));

export function isStoredLoose(commonDir: string, id: string): boolean {
  return isThere(looseFile(commonDir, id));
}

/** An object as it was before compression, with its header: its hash proves what was read. One that is packed, large, damaged or gone is for git. */
export function readObject(commonDir: string, id: string, maxBytes: number): Buffer | AskGit {
  const [folder, name] = looseFolder(id);
  if (isBelowFolders(commonDir, ["objects", folder]) !== true) return ASK_GIT;
  const stored = readPlain(join(commonDir, "objects", folder, name), maxBytes);
  if (stored === null || stored === ASK_GIT) return ASK_GIT;
  const bytes = inflated(stored, maxBytes);
  return bytes === null || objectName(bytes, id.length) !== id ? ASK_GIT : bytes;
}

/** The name of an object of which these are the bytes before compression. */
export function objectName(bytes: Buffer, length: number): string {
  return createHash(length === 64 ? "sha256" : "sha1")
    .update(bytes)
    .digest("hex");
}

function inflated(stored: Buffer, maxBytes: number): Buffer | null {
  try {
    return inflateSync(stored, { maxOutputLength: maxBytes });
  } catch {
    return null;
  }
}

/** Under a name of its own first, then in one step under the name of its content. False if it is not there afterwards. */
export function storeLoose(commonDir: string, { id, bytes }: LooseObject): boolean {
  const [folder, name] = looseFolder(id);
  if (isBelowFolders(commonDir, ["objects"]) !== true) return false;
  const dir = join(commonDir, "objects", folder);
  const draft = join(dir, `tmp_obj_${randomBytes(6).toString("hex")}`);
  try {
    if (statPlain(dir) === null) mkdirSync(dir, { recursive: true });
    if (isBelowFolders(commonDir, ["objects", folder]) !== true) return false;
    if (isThere(join(dir, name))) return true;
    const file = openSync(draft, "wx", 0o444);
    try {
      writeFileSync(file, bytes);
    } finally {
      closeSync(file);
    }
    linkSync(draft, join(dir, name));
    return true;
  } catch {
    return isThere(join(dir, name));
  } finally {
    removeDraft(draft);
  }
}

/** Into a folder of objects that only this process uses. */
export function writeLoose(objects: string, { id, bytes }: LooseObject): void {
  const [folder, name] = looseFolder(id);
  mkdirSync(join(objects, folder), { recursive: true });
  writeFileSync(join(objects, folder, name), bytes);
}

/** All objects of a folder that only git wrote, and only for us; null if some are stored in another way, or have too many bytes. */
export function readLoose(objects: string, maxBytes: number): readonly LooseObject[] | null {
  const found: LooseObject[] = [];
  let left = maxBytes;
  for (const folder of readdirSync(objects)) {
    const isLoose = /^[0-9a-f]{2}$/u.test(folder);
    const names = readdirSync(join(objects, folder));
    if (!isLoose && names.length > 0) return null;
    for (const name of names) {
      const bytes = readPlain(join(objects, folder, name), left);
      if (bytes === null || bytes === ASK_GIT || !/^[0-9a-f]{38,62}$/u.test(name)) return null;
      left -= bytes.length;
      found.push({ id: `${folder}${name}`, bytes });
    }
  }
  return found;
}

function isThere(path: string): boolean {
  const found = statPlain(path);
  return found !== null && found !== ASK_GIT && found.isFile() && found.size > 0;
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its folder is not a folder.
  }
}
