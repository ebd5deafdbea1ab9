// The name of this node among those of one database: random, written once into the state folder.

import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function nodeId(home: string): string {
  const file = join(home, "node-id");
  const known = read(file);
  if (known !== undefined) return known;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(8).toString("hex")}`;
  writeFileSync(fresh, `${randomBytes(8).toString("hex")}\n`, { mode: 0o600, flag: "wx", flush: true });
  try {
    // Of two processes that start at once one is first.
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  const written = read(file);
  if (written === undefined) throw new Error(`${file} holds no id of this node; delete it and start again`);
  return written;
}

function read(file: string): string | undefined {
  try {
    return /^[0-9a-f]{16}$/mu.exec(readFileSync(file, "utf8"))?.[0];
  } catch {
    return undefined;
  }
}
