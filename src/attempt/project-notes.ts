// A flow with shared notes (`workspace.memory`, 001's `.brain/`) begins with PROJECT.md, which agents read first. Passrail writes it from
// the task if it is missing or nearly empty, and then keeps the part about the task current, run by run. Everything else belongs to the user.

import { join } from "node:path";
import type { Subject } from "../core/run/run.ts";
import { lookConfined, makeFolders, readConfined, writeConfined } from "../file/confined.ts";
import { untampered } from "./tampered.ts";

/** Fewer characters than this say nothing about a project. */
const MIN_CHARS = 50;
/** Longer notes stay as they are. */
const MOST_BYTES = 1024 * 1024;
const BEGIN = "<!-- passrail: the task of the current run; the next run replaces it -->";
const END = "<!-- /passrail -->";
const MADE_FROM_FIRST = "These notes were made from the first task; replace them with what agents should know.";

export function ensureProjectNotes(dir: string, memory: string, subject: Subject): void {
  if (memory.startsWith("/") || memory.split("/").includes("..")) return;
  const folder = join(dir, memory);
  untampered(makeFolders(dir, folder));
  const path = join(folder, "PROJECT.md");
  if (needsText(dir, path)) untampered(writeConfined(dir, path, notesOf(subject), 0o666));
  else updateTask(dir, path, subject);
}

/** Replaces the part that Passrail wrote; notes without such a part are the user's. */
function updateTask(dir: string, path: string, subject: Subject): void {
  const read = readConfined(dir, path, MOST_BYTES);
  if (!read.ok && read.error.code === "file_too_large") return;
  const text = untampered(read);
  const part = text === undefined ? undefined : (markedPart(text) ?? firstVersionPart(text));
  if (text === undefined || part === undefined) return;
  const updated = `${text.slice(0, part.from)}${taskOf(subject)}${text.slice(part.to)}`;
  if (updated !== text) untampered(writeConfined(dir, path, updated, 0o666));
}

type Part = { readonly from: number; readonly to: number };

function markedPart(text: string): Part | undefined {
  const from = text.indexOf(BEGIN);
  const end = from === -1 ? -1 : text.indexOf(END, from);
  return end === -1 ? undefined : { from, to: end + END.length };
}

/** Notes of earlier versions of Passrail have no marks: the task stood under its heading. */
function firstVersionPart(text: string): Part | undefined {
  if (!text.startsWith(`# Project\n\n${MADE_FROM_FIRST}\n`)) return undefined;
  const from = text.indexOf("\n## Task\n") + 1;
  if (from === 0) return undefined;
  const next = text.indexOf("\n## ", from);
  return { from, to: next === -1 ? text.length : next };
}

function needsText(dir: string, path: string): boolean {
  const found = untampered(lookConfined(dir, path));
  if (found === undefined) return true;
  if (found.isDirectory() || found.size >= MIN_CHARS * 4) return false;
  return (untampered(readConfined(dir, path, MIN_CHARS * 4)) ?? "").trim().length < MIN_CHARS;
}

function notesOf(subject: Subject): string {
  return ["# Project", "", "Write here what agents should know about this project.", "", taskOf(subject), ""].join(
    "\n",
  );
}

function taskOf({ title, body }: Subject): string {
  // The task's text cannot end its part early.
  const text = [title, ...(body.trim() === "" ? [] : ["", body.trim()])].join("\n").replaceAll("<!--", "&lt;!--");
  return [BEGIN, "## Task", "", text, END].join("\n");
}
