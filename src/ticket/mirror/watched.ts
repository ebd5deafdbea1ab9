// The folders of tickets that somebody cares about, each read once for all who do: after a change, and when asked.

import type { TicketScan } from "../../core/ticket/ticket.ts";
import type { TicketFolder } from "../file/folder.ts";

export type Watched = {
  folder(project: string): Promise<TicketFolder>;
  /** Reads the folder; begins after this call, so that nothing before it is missed. */
  look(project: string): Promise<TicketScan>;
  /** From now on changes in this project's folder are told. */
  watch(project: string): void;
  close(): void;
};

export type WatchedOptions = {
  readonly folderOf: (project: string) => Promise<TicketFolder>;
  /** Something in the folder has changed. */
  readonly onChange: (project: string) => void;
  /** The folder was read, for whatever reason. */
  readonly onScan: (project: string, scan: TicketScan) => void;
  readonly onProblem: (error: unknown) => void;
};

export function createWatched({ folderOf, onChange, onScan, onProblem }: WatchedOptions): Watched {
  const folders = new Map<string, Promise<TicketFolder>>();
  /** The look that goes on, and the one that begins after it. */
  const looks = new Map<string, { last: Promise<TicketScan>; hasBegun: boolean }>();
  const ends = new Map<string, () => void>();
  let isClosed = false;

  const folder = (project: string): Promise<TicketFolder> => {
    const opened = folders.get(project) ?? folderOf(project);
    folders.set(project, opened);
    opened.catch(() => folders.delete(project));
    return opened;
  };
  /** One after the other: a look that began before a change may have missed it. One that has not begun yet serves all who ask. */
  const look = (project: string): Promise<TicketScan> => {
    const before = looks.get(project);
    if (before !== undefined && !before.hasBegun) return before.last;
    const own = { last: undefined as unknown as Promise<TicketScan>, hasBegun: false };
    own.last = (async () => {
      await before?.last.catch(() => undefined);
      await Promise.resolve();
      own.hasBegun = true;
      const scan = await (await folder(project)).scan();
      if (!isClosed) onScan(project, scan);
      return scan;
    })();
    looks.set(project, own);
    return own.last;
  };
  return {
    folder,
    look,
    watch(project) {
      if (ends.has(project) || isClosed) return;
      ends.set(project, () => undefined);
      folder(project)
        .then((opened) => {
          let isTold = false;
          if (isClosed) return;
          const end = opened.watch(() => {
            if (isTold || isClosed) return;
            isTold = true;
            // Changes come in swarms; what comes in the same moment is told once.
            setImmediate(() => {
              isTold = false;
              if (!isClosed) onChange(project);
            });
          });
          ends.set(project, end);
        })
        .catch((error: unknown) => {
          ends.delete(project);
          onProblem(error);
        });
    },
    close() {
      isClosed = true;
      for (const end of ends.values()) end();
    },
  };
}
