// The settings of a repository for agents' programs that could run code before any agent acts: hooks, MCP servers, plugins, settings. Each
// gets a hash, so that a person approves exactly this version and is asked again when it changes. Nothing is executed.
//
// Memory files (AGENTS.md, CLAUDE.md, GEMINI.md, rules) and skills are not settings: they are text for the model, which can do no more than
// the agent's permission allows. Files about agents, commands and skills count only if they contain hooks, servers or commands.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

export type RepositorySetting = {
  /** Relative to the repository; a folder ends with a slash. */
  readonly path: string;
  readonly sha256: string;
  /** The program that reads it. */
  readonly for: string;
};

type Source = {
  readonly for: string;
  readonly files?: readonly string[];
  /** Everything in it counts, except the names listed here. */
  readonly folder: string;
  readonly except: readonly string[];
  /** Folders of texts: a file counts only if it can run something. */
  readonly texts?: readonly string[];
};

/** Written by the program itself, or text for the model. Everything else counts: a new kind of file is a setting until we know better. */
const SOURCES: readonly Source[] = [
  {
    for: "claude",
    files: [".mcp.json"],
    folder: ".claude",
    except: [
      "CLAUDE.md",
      "CLAUDE.local.md",
      "rules",
      "worktrees",
      "projects",
      "plans",
      "agent-memory",
      "agent-memory-local",
    ],
    texts: ["agents", "commands", "skills", "output-styles"],
  },
  { for: "codex", folder: ".codex", except: ["skills", "AGENTS.md", "sessions", "log"] },
  { for: "gemini", folder: ".gemini", except: ["skills", "GEMINI.md", "tmp"], texts: ["agents", "commands"] },
  {
    for: "opencode",
    files: ["opencode.json", "opencode.jsonc"],
    folder: ".opencode",
    // Installed by opencode itself for the plugins that are listed.
    except: ["node_modules", "skill", "skills", ".gitignore"],
    texts: ["agent", "agents", "command", "commands", "mode", "modes"],
  },
  { for: "cursor", folder: ".cursor", except: ["rules", "plans"], texts: ["commands"] },
];

const MOST_FILES = 500;
const MOST_NAMES = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 4 * 1024 * 1024;
const DEEPEST = 12;

/** Sorted by path. Empty for a folder without settings, and for one that cannot be read. */
export async function findRepositorySettings(dir: string): Promise<readonly RepositorySetting[]> {
  const left: Budget = { files: MOST_FILES, bytes: MOST_BYTES };
  const found: RepositorySetting[] = [];
  for (const source of SOURCES) {
    for (const path of source.files ?? []) {
      const sha256 = await digest(dir, path, left);
      if (sha256 !== undefined) found.push({ path, sha256, for: source.for });
    }
    for (const setting of await inFolder(dir, source, left)) found.push({ ...setting, for: source.for });
  }
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** Files and bytes that may still be read. Beyond it, a file counts by its name and size alone. */
type Budget = { files: number; bytes: number };

type Named = { readonly path: string; readonly sha256: string };

async function inFolder(dir: string, source: Source, left: Budget): Promise<readonly Named[]> {
  const { folder, except, texts = [] } = source;
  const kind = await kindOf(join(dir, folder));
  if (kind === "missing") return [];
  // A link or a file in place of the folder may lead its reader anywhere.
  if (kind !== "folder") return [{ path: folder, sha256: (await digest(dir, folder, left)) ?? hashOf(kind) }];
  const found: Named[] = [];
  for (const name of await namesIn(join(dir, folder))) {
    const path = `${folder}/${name}`;
    if (except.includes(name)) continue;
    if (texts.includes(name)) {
      found.push(...(await runnableTexts(dir, path, left, 0)));
      continue;
    }
    const isFolder = (await kindOf(join(dir, path))) === "folder";
    const sha256 = isFolder ? await folderDigest(dir, path, left, 0) : await digest(dir, path, left);
    if (sha256 !== undefined) found.push({ path: isFolder ? `${path}/` : path, sha256 });
  }
  return found;
}

/** Front matter with hooks, servers or rights, and texts with commands that run when they are read. */
const RUNS = /^(?:hooks|mcpServers|mcp_servers|permissionMode|allowed-tools|permission)\s*:|!`|!\{/m;
const TEXT_BYTES = 256 * 1024;

async function runnableTexts(dir: string, path: string, left: Budget, depth: number): Promise<readonly Named[]> {
  const kind = await kindOf(join(dir, path));
  if (kind === "folder") {
    if (depth >= DEEPEST) return [];
    const found: Named[] = [];
    for (const name of await namesIn(join(dir, path)))
      found.push(...(await runnableTexts(dir, `${path}/${name}`, left, depth + 1)));
    return found;
  }
  if (!/\.(?:md|mdc|toml|yaml|yml)$/.test(path) && kind === "file") return [];
  const content = kind === "file" ? await contentOf(join(dir, path), left) : undefined;
  if (content !== undefined && !RUNS.test(content.subarray(0, TEXT_BYTES).toString("latin1"))) return [];
  const sha256 = await digest(dir, path, left);
  return sha256 === undefined ? [] : [{ path, sha256 }];
}

/** Covers the names and contents of everything in it, so that it depends neither on times nor on the order of the disk. */
async function folderDigest(dir: string, path: string, left: Budget, depth: number): Promise<string> {
  const hash = createHash("sha256");
  for (const name of depth < DEEPEST ? await namesIn(join(dir, path)) : []) {
    const inner = `${path}/${name}`;
    const isFolder = (await kindOf(join(dir, inner))) === "folder";
    const sha256 = isFolder ? await folderDigest(dir, inner, left, depth + 1) : await digest(dir, inner, left);
    hash.update(`${name}\0${isFolder ? "folder" : "file"}\0${sha256 ?? ""}\n`);
  }
  return hash.digest("hex");
}

/** Undefined if nothing is there. A link counts by its target and is not followed. */
async function digest(dir: string, path: string, left: Budget): Promise<string | undefined> {
  const full = join(dir, path);
  const kind = await kindOf(full);
  if (kind === "missing") return undefined;
  if (kind === "link") return hashOf(`link\0${await readlink(full).catch(() => "")}`);
  if (kind !== "file") return hashOf(kind);
  const content = await contentOf(full, left);
  const { size } = await lstat(full).catch(() => ({ size: 0 }));
  if (content === undefined) return hashOf(`size\0${size}`);
  const hash = createHash("sha256").update(content);
  return (size > content.length ? hash.update(`\0size\0${size}`) : hash).digest("hex");
}

/** The beginning of a regular file; undefined where the budget is used up or it cannot be read. */
async function contentOf(full: string, left: Budget): Promise<Buffer | undefined> {
  if (left.files <= 0 || left.bytes <= 0) return undefined;
  left.files -= 1;
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const content = Buffer.alloc(Math.min(stats.size, FILE_BYTES));
    const { bytesRead } = await file.read(content, 0, content.length, 0);
    left.bytes -= bytesRead;
    return content.subarray(0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

type Kind = "missing" | "folder" | "file" | "link" | "other";

async function kindOf(full: string): Promise<Kind> {
  const stats = await lstat(full).catch(() => undefined);
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "other";
}

async function namesIn(full: string): Promise<readonly string[]> {
  const names = await readdir(full).catch((): string[] => []);
  return names.toSorted().slice(0, MOST_NAMES);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
