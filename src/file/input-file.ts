// A file or folder of the project that a person, a program or a trigger names as the input of a run. For all of them
// the path stays inside the project, leads through no link, and is a regular text file of limited size; git's own
// folder is not part of it.

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { isAbsolute, join, normalize, relative, sep } from "node:path";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";
import { lookConfined, readConfinedBytes } from "./confined.ts";

/** A prompt shows the whole text. */
export const INPUT_BYTES = 256 * 1024;
const PATH_CHARS = 500;

export type InputText = {
  /** Relative to the project, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  readonly bytes: number;
};

/** The error is the rest of a sentence about the input: `is not there`. */
export function readInputFile(project: string, given: string, maxBytes = INPUT_BYTES): Result<InputText, string> {
  const place = placeOf(project, given);
  if (!place.ok) return place;
  const { root, path } = place.value;
  const read = readConfinedBytes(root, join(root, path), maxBytes);
  if (!read.ok) return err(whyNot(read.error, maxBytes));
  if (read.value === undefined) return err("does not exist");
  const text = textOf(read.value);
  if (text === undefined) return err("is not a text file in UTF-8");
  if (text.trim() === "") return err("is empty");
  return ok({ path: path.split(sep).join("/"), text, sha256: hashOf(text), bytes: read.value.length });
}

export function readInputFolder(project: string, given: string): Result<string, string> {
  const place = placeOf(project, given);
  if (!place.ok) return place;
  const { root, path } = place.value;
  const found = lookConfined(root, join(root, path));
  if (!found.ok) return err(whyNot(found.error, 0));
  if (found.value === undefined) return err("does not exist");
  return found.value.isDirectory() ? ok(path.split(sep).join("/")) : err("is not a folder");
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Text without NUL that is valid UTF-8; undefined for anything else. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

type Place = { readonly root: string; readonly path: string };

function placeOf(project: string, given: string): Result<Place, string> {
  if (given === "" || given.length > PATH_CHARS) return err("is not a path");
  if (/[\p{Cc}]/u.test(given)) return err("has control characters in its path");
  let root: string;
  try {
    root = realpathSync(project);
  } catch (error) {
    return err(`cannot be read: ${messageOf(error)}`);
  }
  const path = normalize(isAbsolute(given) ? insideOf(root, project, given) : given).replace(/[/\\]+$/u, "");
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) return err("is outside the project");
  if (path.split(sep).some((part) => part.toLowerCase() === ".git")) return err("is inside git's own folder");
  return ok({ root, path });
}

/** People may name the project by a path that leads through a link, such as /tmp on some systems. */
function insideOf(root: string, project: string, given: string): string {
  const [byName, byRoot] = [relative(project, given), relative(root, given)];
  return byRoot.startsWith("..") ? byName : byRoot;
}

function whyNot({ code, message }: Problem, maxBytes: number): string {
  if (code === "file_too_large") return `is larger than ${Math.floor(maxBytes / 1024)} KB`;
  const [, why] = / is not used: (.*)\.$/su.exec(message) ?? [];
  return why === undefined ? `cannot be read (${message})` : `is not used: ${why}`;
}
