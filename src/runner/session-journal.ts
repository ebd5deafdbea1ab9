// Reads a session file of an agent's program while the program appends to it: only whole lines, each once. The program's agent can write
// this file too, so it is hostile: no links, bounded lines, bounded in all, and a file that shrank or was replaced is read anew.

import { closeSync, type Dir, opendirSync, readSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import type { Usage } from "../core/budget/usage.ts";
import type { LimitUse } from "../core/run/limit-use.ts";
import { lookConfined, openConfined } from "../file/confined.ts";

/** Where a program keeps its sessions: the environment and the folder that it was started with. */
export type SessionPlaces = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** In a sandbox: the folders of this machine that the program has for its home and for its own files. */
  readonly confined?: { readonly home: string; readonly logins: readonly string[] } | undefined;
};

/** What a session file says of the account's limits. */
export type OnLimits = (uses: readonly LimitUse[]) => void;

/** What a session file says beside its total. */
export type SessionTells = {
  readonly limits?: OnLimits | undefined;
  /** The usage of one answer of the model, once. Only programs tell it that write it down before they carry out what the answer calls. */
  readonly answer?: ((usage: Usage) => void) | undefined;
};

export type SessionJournal = {
  /** Passes the lines that came since the last call. False where there is no such file, or it is not used. */
  read(on: JournalLines): boolean;
};

export type JournalLines = {
  readonly line: (text: string) => void;
  /** The file is another one, or shorter than before: what was read of it does not count. */
  readonly anew: () => void;
};

/** The longest line that is looked at; longer ones hold pictures and whole files. */
const LINE_BYTES = 8 * 1024 * 1024;
/** A session that is longer tells nothing any more. */
const JOURNAL_BYTES = 1024 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** A look that takes longer goes on with the next one: whoever reads has other work, too. */
const LOOK_MS = 500;
/** No session has more answers of a model; an agent can write any number of lines. */
export const ANSWERS_AT_MOST = 100_000;

export function openJournal(root: string, path: string): SessionJournal {
  let identity = "";
  let offset = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  const forget = (): void => {
    offset = 0;
    rest = [];
    restBytes = 0;
  };
  const take = (piece: Buffer, onLine: (text: string) => void): void => {
    let from = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      const last = piece.subarray(from, end);
      if (restBytes + last.length <= LINE_BYTES) onLine(Buffer.concat([...rest, last]).toString("utf8"));
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    const begun = piece.subarray(from);
    restBytes += begun.length;
    if (restBytes > LINE_BYTES) rest = [];
    else if (begun.length > 0) rest.push(Buffer.from(begun));
  };
  return {
    read({ line, anew }) {
      const opened = openConfined(root, path);
      if (!opened.ok || opened.value === undefined) return false;
      const { fd, size } = opened.value;
      try {
        if (size > JOURNAL_BYTES) return false;
        if (opened.value.identity !== identity || size < offset) {
          if (identity !== "") anew();
          forget();
          identity = opened.value.identity;
        }
        const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, size - offset)));
        const until = performance.now() + LOOK_MS;
        while (offset < size && performance.now() < until) {
          const bytes = readSync(fd, buffer, 0, Math.min(buffer.length, size - offset), offset);
          if (bytes === 0) break;
          offset += bytes;
          take(buffer.subarray(0, bytes), line);
        }
        return true;
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** A folder of the program's own. Below `root` no link is followed. */
export type SessionFolder = { readonly root: string; readonly path: string };

/**
 * Where the program's own folder may be. The user may have it elsewhere, behind a link. In a sandbox the home is another folder, and
 * everything in it is the agent's: links count only above it.
 */
export function sessionFolders({ env, confined }: SessionPlaces, folder: string): readonly SessionFolder[] {
  if (confined === undefined) return rootsOf([{ root: folder, below: "" }]);
  const below = relative(env["HOME"] ?? homedir(), folder);
  const isInHome = !isAbsolute(below) && below.split(sep)[0] !== "..";
  const logins = confined.logins.map((root) => ({ root, below: "" }));
  return rootsOf(isInHome ? [{ root: confined.home, below }, ...logins] : logins);
}

function rootsOf(folders: readonly { readonly root: string; readonly below: string }[]): readonly SessionFolder[] {
  return folders.flatMap(({ root, below }) => {
    try {
      const real = realpathSync(root);
      return [{ root: real, path: join(real, below) }];
    } catch {
      return [];
    }
  });
}

/** An agent can fill a folder; a program does not get there. */
const NAMES_AT_MOST = 20_000;

/** What is in a folder below the root; nothing where a link leads there. */
export function namesIn({ root }: SessionFolder, path: string): readonly string[] {
  const found = lookConfined(root, path);
  if (!found.ok || found.value?.isDirectory() !== true) return [];
  let folder: Dir | undefined;
  try {
    folder = opendirSync(path);
    const names: string[] = [];
    for (let entry = folder.readSync(); entry !== null && names.length < NAMES_AT_MOST; entry = folder.readSync())
      names.push(entry.name);
    return names;
  } catch {
    return [];
  } finally {
    folder?.closeSync();
  }
}

/** An id that is one plain name: it becomes a part of a path. */
export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9_-]{8,100}$/u.test(id);
}
