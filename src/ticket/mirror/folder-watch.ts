// The ticket folders of the projects in use. Each folder is opened once, watched once and read once for all callers that ask together.

import { createListeners, type Listeners } from "./listeners.ts";
import type { TicketScan } from "../../core/ticket/ticket.ts";
import type { TicketFolder } from "../file/folder.ts";

export type FolderWatch = Listeners & {
  folder(project: string): Promise<TicketFolder>;
  /** Reads the folder; the read begins after this call, so it shows every change from before. */
  look(project: string): Promise<TicketScan>;
  /** Reads the folder after every change from now on. */
  watch(project: string): void;
  close(): void;
};

export type FolderWatchOptions = {
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** Called after every read, by any caller. */
  readonly onScan: (project: string, scan: TicketScan) => void;
  readonly onProblem: (error: unknown) => void;
};

type Look = { readonly scan: Promise<TicketScan>; hasBegun: boolean };

export function createFolderWatch({ folderOf, onScan, onProblem }: FolderWatchOptions): FolderWatch {
  const folders = new Map<string, Promise<TicketFolder>>();
  /** The last look of each project: it runs, or begins after the one before. */
  const looks = new Map<string, Look>();
  const ends = new Map<string, () => void>();
  const listeners = createListeners();
  let isClosed = false;
  return {
    ...listeners,
    folder,
    look,
    watch(project) {
      if (ends.has(project) || isClosed) return;
      ends.set(project, () => undefined);
      begin(project).catch((error: unknown) => {
        ends.delete(project);
        onProblem(error);
      });
    },
    close() {
      isClosed = true;
      for (const end of ends.values()) end();
    },
  };

  function folder(project: string): Promise<TicketFolder> {
    const opened = folders.get(project) ?? folderOf(project);
    folders.set(project, opened);
    opened.catch(() => folders.delete(project));
    return opened;
  }

  /** One at a time: a look that began before a change may have missed it. A look that has not begun yet serves all callers. */
  function look(project: string): Promise<TicketScan> {
    const before = looks.get(project);
    if (before !== undefined && !before.hasBegun) return before.scan;
    const { promise, resolve } = Promise.withResolvers<TicketScan>();
    const own: Look = { scan: promise, hasBegun: false };
    looks.set(project, own);
    resolve(read(project, own, before));
    return promise;
  }

  async function read(project: string, own: Look, before: Look | undefined): Promise<TicketScan> {
    await before?.scan.catch(() => undefined);
    await Promise.resolve();
    own.hasBegun = true;
    const scan = await (await folder(project)).scan();
    if (!isClosed) onScan(project, scan);
    return scan;
  }

  async function begin(project: string): Promise<void> {
    const opened = await folder(project);
    if (isClosed) return;
    const end = opened.watch(oncePerTurn(() => changed(project)));
    ends.set(project, end);
  }

  function changed(project: string): void {
    if (isClosed) return;
    listeners.notify(project);
    // Listeners may look too; looks requested in the same moment are one.
    look(project).catch(onProblem);
  }
}

/** Coalesces all changes of the same moment into one call. */
function oncePerTurn(call: () => void): () => void {
  let isPlanned = false;
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      call();
    });
  };
}
