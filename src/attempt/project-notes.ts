// A flow with shared notes (`workspace.memory`, 001's `.brain/`) begins with PROJECT.md, which agents read first. Passrail writes it from
// the task if it is missing or nearly empty; anything longer belongs to the user.

import { lstat, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { Subject } from "../core/run/run.ts";
import { isInside } from "./attempt-files.ts";

/** Fewer characters than this say nothing about a project. */
const MIN_CHARS = 50;

export async function ensureProjectNotes(dir: string, memory: string, subject: Subject): Promise<void> {
  if (memory.startsWith("/") || memory.split("/").includes("..")) return;
  const folder = join(dir, memory);
  // The folder may be a link that an agent or the repository made; never write outside the workspace.
  if (!(await isInside(dir, folder))) return;
  await mkdir(folder, { recursive: true });
  const path = join(folder, "PROJECT.md");
  if (!(await needsText(path))) return;
  const file = await open(path, "w");
  await file.writeFile(notesOf(subject));
  await file.close();
}

async function needsText(path: string): Promise<boolean> {
  try {
    const stat = await lstat(path);
    if (!stat.isFile()) return false;
    if (stat.size >= MIN_CHARS * 4) return false;
    const file = await open(path);
    const text = await file.readFile("utf8");
    await file.close();
    return text.trim().length < MIN_CHARS;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw cause;
  }
}

function notesOf({ title, body }: Subject): string {
  const lines = [
    "# Project",
    "",
    "These notes were made from the first task; replace them with what agents should know.",
    "",
  ];
  return [...lines, "## Task", "", title, ...(body.trim() === "" ? [] : ["", body.trim()]), ""].join("\n");
}
