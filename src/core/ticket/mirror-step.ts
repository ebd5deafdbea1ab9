// Keeps a ticket's file and its run equal, as one pure step from a known state and an observation to the next state and its acts. The run's
// words go into the file in order. A person's status goes to the run: at once if no attempt works or if it cancels the ticket, otherwise
// after the attempt, with the conflict noted. Neither overwrites the other.

import { CANCELED_STATUS } from "./status.ts";
import { optional } from "../optional.ts";

/** The part of a run that its file depends on. */
export type MirroredRun = {
  readonly word: string;
  readonly isEnded: boolean;
  readonly title: string;
  readonly body: string;
};

/** The keys of the file that describe the run, besides its status. Null removes a key. */
export type MirrorKeys = {
  /** Number of the run. */
  readonly run: number | null;
  readonly branch?: string | null;
  readonly last_error: string | null;
  readonly pr_url?: string;
  readonly conflict: null;
};

export type MirrorState =
  /** The file shows the run's words. */
  | { readonly status: "following" }
  /** A person wrote another status while an attempt worked. */
  | { readonly status: "conflict"; readonly word: string }
  | { readonly status: "missing" }
  /** The person's status wins; the run ends and writes nothing more. */
  | { readonly status: "released" };

export type MirrorEntry = {
  readonly state: MirrorState;
  readonly run: MirroredRun;
  readonly ticket: string;
  /** Relative to the project. */
  readonly path: string;
  /** Words of the run that the file does not show yet, in order. */
  readonly pending: readonly string[];
  /** The status in the file as far as known; after a crash it may still be the older one. */
  readonly written: string;
  readonly older: string | null;
  /** The keys as last written; null if unknown. */
  readonly keys: MirrorKeys | null;
  /** Writes in a row that found another status than expected. */
  readonly misses: number;
  /** The last reported problem, and the last edit that the run received: each once. */
  readonly reported: string;
  readonly sentEdit: string;
};

export type MirrorSeen =
  | { readonly type: "run-changed"; readonly run: MirroredRun; readonly words: readonly string[] }
  /** It is this file's turn. `keys`: written with the last of the pending words; null before. */
  | { readonly type: "turn"; readonly keys: MirrorKeys | null }
  | { readonly type: "written"; readonly word: string; readonly keys: MirrorKeys | null }
  | { readonly type: "write-failed"; readonly code: string; readonly message: string }
  /** `text`: the status as the file spells it, since settings may read another word as Backlog. */
  | {
      readonly type: "file-found";
      readonly path: string;
      readonly status: string;
      readonly text: string;
      readonly isWorking: boolean;
    }
  | { readonly type: "file-broken"; readonly message: string }
  | { readonly type: "file-missing" }
  /** An earlier process noted that the person's status wins, and may have died before the run ended. */
  | { readonly type: "release-noted"; readonly word: string }
  | { readonly type: "text-found"; readonly title: string; readonly body: string };

export type MirrorAct =
  /** Give the file its next turn. */
  | { readonly type: "continue" }
  /** Read the file and report it as `file-…`. */
  | { readonly type: "look" }
  /** Note both words, then write if the file still says `before`; report `written` or `write-failed`. */
  | { readonly type: "write"; readonly before: string; readonly word: string; readonly keys: MirrorKeys | null }
  | { readonly type: "warn-run"; readonly code: string; readonly message: string; readonly signalId?: string }
  | { readonly type: "note-conflict"; readonly path: string; readonly status: string; readonly text: string }
  | { readonly type: "note-release"; readonly word: string }
  | { readonly type: "cancel-run"; readonly reason: string }
  | { readonly type: "edit-run"; readonly title: string; readonly body: string }
  /** Remove the run's notes about problems. */
  | { readonly type: "clean-file" }
  | { readonly type: "report"; readonly message: string }
  | { readonly type: "retry-later" }
  /** Write nothing more for this run. */
  | { readonly type: "forget" };

export type MirrorStep = { readonly entry: MirrorEntry; readonly acts: readonly MirrorAct[] };

/** After this many writes in a row that found another status, the mirror waits for a while. */
const MAX_MISSES = 5;

const FOLLOWING: MirrorState = { status: "following" };

/** `note`: the words of the last write that an earlier process noted. */
export function newMirrorEntry(
  run: MirroredRun,
  file: { readonly ticket: string; readonly path: string; readonly status: string },
  note: { readonly before: string; readonly word: string } | undefined,
): MirrorEntry {
  return {
    state: FOLLOWING,
    run,
    ticket: file.ticket,
    path: file.path,
    pending: [],
    written: note?.word ?? file.status,
    older: note?.before ?? null,
    keys: null,
    misses: 0,
    reported: "",
    sentEdit: "",
  };
}

export function mirrorStep(entry: MirrorEntry, seen: MirrorSeen): MirrorStep {
  switch (seen.type) {
    case "run-changed": {
      const pending = entry.state.status === "released" ? [] : [...entry.pending, ...seen.words];
      return { entry: { ...entry, run: seen.run, pending }, acts: [] };
    }
    case "turn":
      return takeTurn(entry, seen.keys);
    case "written": {
      const [, ...pending] = entry.pending;
      const keys = seen.keys ?? entry.keys;
      const shown = { written: seen.word, older: null, keys, pending, misses: 0, reported: "" };
      return { entry: { ...entry, state: FOLLOWING, ...shown }, acts: [{ type: "continue" }] };
    }
    case "write-failed":
      return writeFailed(entry, seen.code, seen.message);
    case "file-found":
      return fileFound(entry, seen);
    case "file-broken":
      return retryLater(entry, seen.message);
    case "file-missing": {
      const missing: MirrorEntry = { ...entry, state: { status: "missing" }, misses: 0 };
      if (entry.state.status === "missing") return { entry: missing, acts: endOf(missing) };
      const message = `${entry.path} is gone; the run continues without it`;
      return { entry: missing, acts: [...warn(entry, "ticket_file_missing", message), ...endOf(missing)] };
    }
    case "release-noted":
      return release(entry, seen.word);
    case "text-found":
      return textFound(entry, seen.title, seen.body);
  }
}

/** Whether a scan of the folder shows the file as the mirror knows it. */
export function isAsKnown({ state, written }: MirrorEntry, status: string): boolean {
  return state.status !== "missing" && status === (state.status === "conflict" ? state.word : written);
}

function takeTurn(entry: MirrorEntry, keys: MirrorKeys | null): MirrorStep {
  if (entry.state.status === "conflict") return { entry, acts: [{ type: "look" }] };
  const [word, ...rest] = entry.pending;
  if (entry.state.status === "released" || word === undefined) return { entry, acts: endOf(entry) };
  const isShown = word === entry.written && entry.older === null && (keys === null || isSame(keys, entry.keys));
  if (isShown) return { entry: { ...entry, pending: rest }, acts: [{ type: "continue" }] };
  return { entry, acts: [{ type: "write", before: entry.written, word, keys }] };
}

function writeFailed(entry: MirrorEntry, code: string, message: string): MirrorStep {
  if (code !== "ticket_conflict" && code !== "ticket_file_missing") return retryLater(entry, message);
  if (entry.misses + 1 < MAX_MISSES) return { entry: { ...entry, misses: entry.misses + 1 }, acts: [{ type: "look" }] };
  return retryLater(entry, `${entry.path} changes too fast to be written`);
}

/** The file lags behind the mirror, a person has edited it, or it has moved. */
function fileFound(known: MirrorEntry, seen: MirrorSeen & { readonly type: "file-found" }): MirrorStep {
  const moved = `${known.path} is gone; ${seen.path} has ${known.ticket} now and is used`;
  const before = seen.path === known.path ? [] : warn(known, "ticket_file_missing", moved);
  const entry: MirrorEntry = { ...known, path: seen.path };
  const isOurs = [entry.written, entry.older, entry.run.word].includes(seen.status);
  const { entry: next, acts } = isOurs ? fileLags(entry, seen.text || seen.status) : personDecides(entry, seen);
  return { entry: next, acts: [...before, ...acts] };
}

function fileLags(entry: MirrorEntry, written: string): MirrorStep {
  const following: MirrorEntry = { ...entry, state: FOLLOWING, written, older: null };
  // The note of the conflict is among the keys, so they are written again.
  const next =
    entry.state.status === "conflict"
      ? { ...following, keys: null, pending: [...entry.pending, entry.run.word] }
      : following;
  return { entry: next, acts: [{ type: "continue" }] };
}

function personDecides(entry: MirrorEntry, seen: MirrorSeen & { readonly type: "file-found" }): MirrorStep {
  const { status, isWorking } = seen;
  if (status === CANCELED_STATUS || !isWorking) {
    const { entry: next, acts } = release(entry, status);
    return { entry: next, acts: [{ type: "note-release", word: status }, ...acts] };
  }
  const { path, run, state } = entry;
  if (state.status === "conflict" && state.word === status) return { entry, acts: [] };
  const message = `${path} says ${status}, and the run is at ${run.word}: acted on when this attempt has ended`;
  const text = `the run is at ${run.word}; ${status} is acted on when its attempt has ended`;
  return {
    entry: { ...entry, state: { status: "conflict", word: status }, misses: 0 },
    acts: [
      ...warn(entry, "ticket_conflict", message, `ticket-conflict:${status}:${run.word}`),
      { type: "note-conflict", path, status, text },
    ],
  };
}

/** The file's status wins: the run ends, and the dispatcher continues from the file. */
function release(entry: MirrorEntry, word: string): MirrorStep {
  const reason = word === CANCELED_STATUS ? "canceled in its file" : `its file was set to ${word}`;
  return {
    entry: { ...entry, state: { status: "released" }, pending: [] },
    acts: [
      ...(entry.run.isEnded ? [] : [{ type: "cancel-run", reason } as const]),
      ...tooLate(entry, word),
      { type: "forget" },
    ],
  };
}

/** The run ended before the person's word could take effect, perhaps with its work landed: the file says both. */
function tooLate({ path, run }: MirrorEntry, word: string): readonly MirrorAct[] {
  if (!run.isEnded || run.word === CANCELED_STATUS || run.word === word) return [{ type: "clean-file" }];
  const text = `the run was ${run.word} before ${word} could be acted on`;
  return [{ type: "note-conflict", path, status: word, text }];
}

function textFound(entry: MirrorEntry, title: string, body: string): MirrorStep {
  const edit = JSON.stringify([title, body]);
  const isKnown = (title === entry.run.title && body === entry.run.body) || edit === entry.sentEdit;
  if (isKnown) return { entry, acts: [] };
  return { entry: { ...entry, sentEdit: edit }, acts: [{ type: "edit-run", title, body }] };
}

function retryLater(entry: MirrorEntry, message: string): MirrorStep {
  const report: readonly MirrorAct[] = message === entry.reported ? [] : [{ type: "report", message }];
  return {
    entry: { ...entry, reported: message, misses: 0 },
    acts: [...report, { type: "retry-later" }, ...endOf(entry)],
  };
}

/** The mirror forgets an ended run as soon as its file shows the end, or cannot. */
function endOf({ run, state, pending }: MirrorEntry): readonly MirrorAct[] {
  const isDone = pending.length === 0 ? state.status !== "conflict" : state.status === "missing";
  return run.isEnded && isDone ? [{ type: "forget" }] : [];
}

function warn({ run }: MirrorEntry, code: string, message: string, signalId?: string): readonly MirrorAct[] {
  if (run.isEnded) return [];
  return [{ type: "warn-run", code, message, ...optional({ signalId }) }];
}

function isSame(keys: MirrorKeys, others: MirrorKeys | null): boolean {
  return JSON.stringify(keys) === JSON.stringify(others);
}
