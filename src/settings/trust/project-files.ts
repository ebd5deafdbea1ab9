// The files by which a repository decides what Passrail runs: settings, flows, agents, prompts, files of MCP servers, the switches of .env,
// and the scripts that settings and flows name as programs. They are read once, as bytes, so that a hash means exactly these bytes.

import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { canonicalJson } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { ProjectFileKind } from "../../core/view/project-effects.ts";
import { listFiles, readText } from "../../file/read-text.ts";
import { readYaml } from "../../file/yaml.ts";
import { projectSwitches } from "../project-keys.ts";
import { SETTINGS_FILE } from "../site.ts";
import { programsIn } from "./named-programs.ts";

export type ProjectFile = {
  /** Relative to the project, with slashes. */
  readonly path: string;
  readonly kind: ProjectFileKind;
  /** Of path and text. */
  readonly sha256: string;
  readonly text: string;
};

export type ProjectFiles = {
  /** Names exactly these files with exactly these bytes. */
  readonly hash: string;
  readonly files: readonly ProjectFile[];
};

/** The folders that the catalog reads. */
const FOLDERS: readonly {
  readonly folder: string;
  readonly kind: ProjectFileKind;
  readonly endings: readonly string[];
  readonly deep: boolean;
}[] = [
  { folder: ".passrail/flows", kind: "flow", endings: [".yaml", ".yml"], deep: false },
  { folder: ".passrail/agents", kind: "agent", endings: [".md"], deep: false },
  { folder: ".passrail/prompts", kind: "prompt", endings: [".md"], deep: true },
  { folder: ".claude/agents", kind: "agent", endings: [".md"], deep: false },
];
const MAX_PROGRAM_BYTES = 1024 * 1024;

/** A file that cannot be read safely is an error: a person cannot approve an unreadable file. */
export function readProjectFiles(project: string): Result<ProjectFiles> {
  const files = new Map<string, ProjectFile>();
  const add = (path: string, kind: ProjectFileKind, text: string): void => {
    if (!files.has(path)) files.set(path, { path, kind, sha256: hashOfFile(path, text), text });
  };
  for (const { path, kind } of listProjectFiles(project)) {
    const read = readText(join(project, path), project, kind);
    if (!read.ok) return err({ code: read.error.code, message: `${path}: ${read.error.message}` });
    add(path, kind, read.value);
  }
  const switches = projectSwitches(project);
  if (switches !== "") add(".env", "switches", switches);
  const named = [...files.values()].flatMap(({ path, kind, text }) =>
    kind === "settings" || kind === "flow" ? programsIn(valueOf(path, text)) : [],
  );
  for (const { word, kind } of named) {
    const path = insideOf(project, word);
    const text = path === undefined ? undefined : readProgram(join(project, path));
    if (path !== undefined && text !== undefined) add(path, kind, text);
  }
  return ok(asProjectFiles([...files.values()]));
}

export function asProjectFiles(files: readonly ProjectFile[]): ProjectFiles {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const names = sorted.map(({ path, kind, sha256 }) => ({ path, kind, sha256 }));
  return { hash: createHash("sha256").update(canonicalJson(names)).digest("hex"), files: sorted };
}

/** Whether a project brings any file that needs an approval; reads no content but that of .env. */
export function hasProjectFiles(project: string): boolean {
  return listProjectFiles(project).length > 0 || projectSwitches(project) !== "";
}

export function hashOfFile(path: string, text: string): string {
  return createHash("sha256").update(path).update("\0").update(text).digest("hex");
}

/** The parsed content of a YAML file; undefined for a file with errors, which takes no effect. */
export function valueOf(path: string, text: string): unknown {
  const read = readYaml(text, { file: path, subject: "settings" });
  return read.ok ? read.value.value : undefined;
}

function listProjectFiles(project: string): readonly { readonly path: string; readonly kind: ProjectFileKind }[] {
  const settings = existsSync(join(project, SETTINGS_FILE)) ? [{ path: SETTINGS_FILE, kind: "settings" as const }] : [];
  return [
    ...settings,
    ...FOLDERS.flatMap(({ folder, kind, endings, deep }) =>
      listFiles(join(project, folder), endings, deep).map((path) => ({ path: `${folder}/${path}`, kind })),
    ),
  ];
}

/** The word as a path below the project, if it is one. */
function insideOf(project: string, word: string): string | undefined {
  const path = relative(project, resolve(project, word));
  return path === "" || path.startsWith("..") || isAbsolute(path) ? undefined : path.split(sep).join("/");
}

/** A script of the repository; undefined for anything that is no regular file of the project. */
function readProgram(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(realpathSync(file), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return undefined;
    if (stat.size > MAX_PROGRAM_BYTES) return `(a program of ${stat.size} bytes)\n`;
    const bytes = readFileSync(descriptor);
    const text = bytes.toString("utf8");
    const isText = !text.includes("\0") && Buffer.from(text).equals(bytes);
    return isText ? text : `(binary: ${createHash("sha256").update(bytes).digest("hex")})\n`;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
