// Reports changes in the folder of tickets. The system's notifications are quick but can get lost or be missing on some file systems; a
// slow poll finds the missed changes.

import { type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

export type WatchPlace = {
  readonly root: string;
  readonly project: string;
  /** The same object as before if nothing has changed. */
  readonly scan: () => Promise<unknown>;
};

const GATHER_MS = 10;
const POLL_MS = 5000;
const MAX_FOLDERS = 5000;
/** On these systems one watcher sees a whole tree. */
const WATCHES_TREES = process.platform === "darwin" || process.platform === "win32";

export function watchFolder({ root, project, scan }: WatchPlace, onChange: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let gather: NodeJS.Timeout | undefined;
  /** Folders may have come or gone, not only files. */
  let isOutdated = false;
  let seen: unknown;
  let isClosed = false;
  align();
  const poll = setInterval(() => void look(), POLL_MS);
  poll.unref();
  void look();

  return () => {
    isClosed = true;
    clearInterval(poll);
    clearTimeout(gather);
    for (const watcher of watchers.values()) watcher.close();
  };

  /** Coalesces several changes into one. */
  function changed(): void {
    if (isClosed || gather !== undefined) return;
    gather = setTimeout(() => {
      gather = undefined;
      if (isClosed) return;
      if (isOutdated) align();
      onChange();
    }, GATHER_MS);
  }

  async function look(): Promise<void> {
    const now = await scan().catch(() => undefined);
    const isNews = seen !== undefined && now !== undefined && now !== seen;
    if (now !== undefined) seen = now;
    if (!isNews) return;
    isOutdated = true;
    changed();
  }

  /** One watcher for each existing folder. If the tickets' folder is missing, its nearest existing parent is watched. */
  function align(): void {
    isOutdated = false;
    const folders = new Set(foldersNow());
    for (const [folder, watcher] of watchers)
      if (!folders.has(folder)) {
        watcher.close();
        watchers.delete(folder);
      }
    for (const folder of folders) if (!watchers.has(folder)) start(folder);
  }

  function foldersNow(): readonly string[] {
    const requests = namesIn(root);
    if (requests === undefined) return [nearestAbove(root, project), project];
    if (WATCHES_TREES) return [root];
    return [project, root, ...requests.slice(0, MAX_FOLDERS).map((name) => join(root, name))];
  }

  function start(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false, recursive: WATCHES_TREES && folder === root });
      watchers.set(folder, watcher);
      const end = (): void => {
        watcher.close();
        if (watchers.get(folder) === watcher) watchers.delete(folder);
      };
      watcher.on("change", (_, name) => {
        const isAbove = folder !== root && !folder.startsWith(join(root, "/"));
        if (isAbove && !root.startsWith(join(folder, String(name)))) return;
        // Passrail's drafts appear beside the files for a moment.
        if (!isAbove && typeof name === "string" && basename(name).startsWith(".")) return;
        isOutdated ||= isAbove || folder === root;
        changed();
      });
      watcher.on("error", end);
    } catch {
      // No more watchers, or the folder is gone again: the slow poll continues.
    }
  }
}

function namesIn(root: string): readonly string[] | undefined {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => name);
  } catch {
    return undefined;
  }
}

function nearestAbove(root: string, project: string): string {
  for (let folder = dirname(root); folder.length > project.length; folder = dirname(folder))
    if (namesIn(folder) !== undefined) return folder;
  return project;
}
