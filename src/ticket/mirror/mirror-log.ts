// The last status written into each ticket's file: after a crash it distinguishes a file that lags behind its run from one that a person
// edited. A line is stored before the file is touched and names both words: the one in the file and the one to be written.

import { openJournal } from "../../file/journal.ts";

export type MirrorNote =
  /** The file says one of the two. */
  | { readonly run: string; readonly before: string; readonly word: string }
  /** The file's word is the person's; the run ends and writes nothing more. */
  | { readonly run: string; readonly letGo: string };

export type MirrorLog = {
  /** The last note of every run that is not forgotten. */
  readonly notes: ReadonlyMap<string, MirrorNote>;
  write(note: MirrorNote): void;
  /** Stops writing for this run. */
  forget(run: string): void;
  close(): void;
};

const MAX_BYTES = 64 * 1024 * 1024;
/** The log is rewritten when it has grown by this much. */
const GROWS_BYTES = 1024 * 1024;

/** Opens the file at the first use: most stores have no tickets, and then no such file. */
export function lazyMirrorLog(path: string): MirrorLog {
  let opened: MirrorLog | undefined;
  const log = (): MirrorLog => (opened ??= openMirrorLog(path));
  return {
    get notes() {
      return log().notes;
    },
    write: (note) => log().write(note),
    forget: (run) => log().forget(run),
    close: () => opened?.close(),
  };
}

export function openMirrorLog(path: string): MirrorLog {
  const journal = openJournal(path, MAX_BYTES);
  const notes = new Map<string, MirrorNote>();
  for (const line of journal.lines) {
    const note = readLine(line);
    if (note === undefined) continue;
    notes.delete(note.run);
    if (!("over" in note)) notes.set(note.run, note);
  }
  let compactAt = GROWS_BYTES;
  const append = (line: object): void => {
    journal.append(JSON.stringify(line));
    if (journal.size() < compactAt) return;
    journal.rewrite([...notes.values()].map((note) => JSON.stringify(note)));
    compactAt = journal.size() + GROWS_BYTES;
  };
  return {
    notes,
    write(note) {
      notes.set(note.run, note);
      append(note);
    },
    forget(run) {
      if (!notes.delete(run)) return;
      append({ run, over: true });
    },
    close: () => journal.close(),
  };
}

/** Undefined for a line that a crash left broken. */
function readLine(line: string): MirrorNote | { readonly run: string; readonly over: true } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (value === null || typeof value !== "object") return undefined;
  const { run, before, word, letGo, over } = value as Readonly<Record<string, unknown>>;
  if (typeof run !== "string") return undefined;
  if (over === true) return { run, over };
  if (typeof letGo === "string") return { run, letGo };
  return typeof before === "string" && typeof word === "string" ? { run, before, word } : undefined;
}
