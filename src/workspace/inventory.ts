// Every workspace below the state folder, with its owner: in use, left behind, or with uncommitted work.
// Cleaning removes only workspaces without a live owner, and pins first. If the store cannot answer, cleaning stops.

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { err, type Result } from "../core/result.ts";
import { type Note, openNotes, workspaceOfNote } from "./notes.ts";
import type { Closed, Workspace, Workspaces } from "./workspace.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";

/** A live run may work there at any moment; one that has ended, or that the store does not know, does not. */
export type Owner = "live" | "ended" | "unknown";

export type FoundWorkspace = {
  readonly key: string;
  readonly mode: WorkspaceMode;
  readonly dir: string;
  readonly branch: string | null;
  /** Null if the owner is unknown. */
  readonly runId: string | null;
  readonly owner: Owner;
  /** live: never touched. dirty: holds uncommitted work. orphaned: no owner, all committed. stray: an unknown folder. */
  readonly state: "live" | "dirty" | "orphaned" | "stray";
  readonly bytes: number;
  readonly openedAt: string;
};

export type Cleaned = FoundWorkspace & { readonly result: Result<Closed> };

export type InventoryOptions = {
  readonly home: string;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  /** Throws if the store cannot answer. */
  readonly ownerOf: (runId: string) => Promise<Owner>;
  /** The store's record of a workspace whose note is missing. */
  readonly remembered: (runId: string, dir: string) => Promise<Workspace | null>;
};

const FILES_COUNTED = 200_000;

export async function findWorkspaces(options: InventoryOptions): Promise<readonly FoundWorkspace[]> {
  const notes = await openNotes(options.home).list();
  const known = new Set(notes.map(({ key }) => key));
  const found: FoundWorkspace[] = [];
  for (const note of notes) found.push(await describe(options, note));
  for (const [folder, mode] of [
    ["worktrees", "worktree"],
    ["clones", "clone"],
  ] as const) {
    for (const name of await namesIn(join(options.home, folder))) {
      if (known.has(name)) continue;
      found.push(await describeStray(options, mode, name, join(options.home, folder, name)));
    }
  }
  return found;
}

/** One after the other; a workspace that cannot be closed is kept and reported. */
export async function cleanWorkspaces(
  options: InventoryOptions,
  found: readonly FoundWorkspace[],
): Promise<readonly Cleaned[]> {
  const cleaned: Cleaned[] = [];
  for (const one of found) {
    if (one.state === "live") continue;
    cleaned.push({ ...one, result: await clean(options, one) });
  }
  return cleaned;
}

async function clean(options: InventoryOptions, one: FoundWorkspace): Promise<Result<Closed>> {
  const { runId, dir, key } = one;
  if (runId === null)
    return err({
      code: "workspace_stray",
      message: `Nothing is known of ${dir}, so it is left alone.`,
      hint: `Look at it and remove it yourself: rm -r ${dir}`,
    });
  // Checked again right before: a run may have started in between.
  if ((await options.ownerOf(runId)) === "live")
    return err({ code: "workspace_live", message: `Run ${runId} works again, so ${dir} is left alone.` });
  const note = await openNotes(options.home).read(key);
  const workspace = note === null ? await options.remembered(runId, dir) : workspaceOfNote(note);
  if (workspace === null) return clean(options, { ...one, runId: null });
  return options.workspaces(one.mode).close(workspace, runId);
}

async function describe(options: InventoryOptions, note: Note): Promise<FoundWorkspace> {
  const owner = await options.ownerOf(note.runId);
  const workspace = workspaceOfNote(note);
  const { bytes } = await sizeOf(note.dir);
  const state = owner === "live" ? "live" : (await isDirty(options, workspace)) ? "dirty" : "orphaned";
  const { key, mode, dir, runId, openedAt } = note;
  return { key, mode, dir, branch: note.branch ?? null, runId, owner, state, bytes, openedAt };
}

/** From a version without notes, or interrupted before the note was written. The folder's name begins with the run's id. */
async function describeStray(
  options: InventoryOptions,
  mode: WorkspaceMode,
  key: string,
  dir: string,
): Promise<FoundWorkspace> {
  const runId = key.split("-")[0] ?? key;
  const owner = await options.ownerOf(runId);
  const workspace = await options.remembered(runId, dir);
  const { bytes, at } = await sizeOf(dir);
  const more = { key, mode, dir, bytes, openedAt: at, owner };
  if (owner === "live") return { ...more, branch: workspace?.branch ?? null, runId, state: "live" };
  if (workspace === null) return { ...more, branch: null, runId: null, state: "stray" };
  const state = (await isDirty(options, workspace)) ? "dirty" : "orphaned";
  return { ...more, branch: workspace.branch ?? null, runId, state };
}

/** Whether it differs from its head; doubt counts as dirty. */
async function isDirty({ workspaces }: InventoryOptions, workspace: Workspace): Promise<boolean> {
  const provider = workspaces(workspace.mode);
  const head = await provider.head(workspace);
  return head === null || (await provider.diff(workspace, head)) !== "";
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  // Names with a leading dot are being created or removed right now.
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
}

/** Links are counted, not followed. */
async function sizeOf(dir: string): Promise<{ readonly bytes: number; readonly at: string }> {
  const top = await lstat(dir).catch(() => null);
  let bytes = 0;
  let files = 0;
  const folders = top?.isDirectory() === true ? [dir] : [];
  for (let folder = folders.pop(); folder !== undefined && files < FILES_COUNTED; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      files += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else bytes += (await lstat(path).catch(() => null))?.size ?? 0;
    }
  }
  return { bytes, at: (top?.birthtime ?? new Date(0)).toISOString() };
}
