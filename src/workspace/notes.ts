// Notes on each workspace that is open: its run, its folder and its ports. One file per workspace in the state folder, out of reach of the
// workspace's programs, and written atomically.

import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Workspace } from "./workspace.ts";
import { WORKSPACE_MODES } from "../core/flow/workspace-mode.ts";
import { optional } from "../core/optional.ts";

const noteSchema = z.object({
  key: z.string().regex(/^[a-z0-9][a-z0-9-]{0,127}$/),
  runId: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  mode: z.enum(WORKSPACE_MODES),
  dir: z.string(),
  branch: z.string().optional(),
  repository: z.string().optional(),
  /** First port of its block. */
  port: z.int().nullable(),
  /** The one-time steps (copy and setup) are done. */
  ready: z.boolean(),
  openedAt: z.string(),
});

export type Note = Readonly<z.infer<typeof noteSchema>>;

export type Notes = {
  read(key: string): Promise<Note | null>;
  write(note: Note): Promise<void>;
  remove(key: string): Promise<void>;
  /** Throws if the folder is unreadable: it must not look as if there were no workspaces. */
  list(): Promise<readonly Note[]>;
};

export function openNotes(home: string): Notes {
  const folder = join(home, "workspaces");
  const fileOf = (key: string): string => join(folder, `${key}.json`);
  const read = async (path: string): Promise<Note | null> => {
    try {
      return noteSchema.parse(JSON.parse(await readFile(path, "utf8")));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new Error(`The note ${path} cannot be read; look at it and remove it.`, { cause: error });
    }
  };
  return {
    read: (key) => read(fileOf(key)),
    async write(note) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = join(folder, `.${note.key}.new`);
      const file = await open(draft, "w", 0o600);
      try {
        await file.writeFile(`${JSON.stringify(note)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, fileOf(note.key));
    },
    async remove(key) {
      await rm(fileOf(key), { force: true });
    },
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return [];
        throw error;
      });
      const files = names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
      const notes = await Promise.all(files.map((name) => read(join(folder, name))));
      return notes.filter((note) => note !== null);
    },
  };
}

/** The workspace as it was opened, for closing it. */
export function workspaceOfNote({ key, mode, dir, branch, repository }: Note): Workspace {
  return {
    mode,
    key,
    dir,
    lockKeys: [],
    ...optional({ branch, repository }),
  };
}
