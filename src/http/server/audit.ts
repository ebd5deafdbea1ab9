// The audit log: who used which right, and who was refused. A file of lines in the state folder, each chained to the one before. Its size
// is bounded, and repeated failures cannot fill it. Decisions of people are events of the run.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_TYPES } from "../contract/schemas/key.ts";
import { canonicalJson } from "../../core/json.ts";
import { type Journal, openJournal } from "../../file/journal.ts";
import { createRateLimit } from "./rate-limit.ts";
import { messageOf } from "../../core/result.ts";

export type AuditType = (typeof AUDIT_TYPES)[number];

export type AuditNote = {
  readonly type: AuditType;
  /** Id of the token's holder; null if unknown. */
  readonly principal: string | null;
  readonly who: string | null;
  readonly from: string;
  readonly what: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
};

export type AuditEntry = AuditNote & {
  readonly seq: number;
  readonly at: string;
  /** The number of similar entries dropped before this one. */
  readonly leftOut: number;
};

export type Audit = {
  record(note: AuditNote): void;
  /** Newest first. */
  list(query: { readonly before?: number; readonly type?: AuditType; readonly limit: number }): readonly AuditEntry[];
  /** Writes all pending entries. */
  flush(): void;
  close(): void;
};

export type AuditOptions = {
  /** ISO 8601, UTC. */
  readonly now: () => string;
  /** Called when the log cannot be written. Work continues, but the operator must know. */
  readonly onProblem: (text: string) => void;
  readonly maxBytes?: number;
};

const MAX_BYTES = 4 * 1024 * 1024;
const fileIn = (home: string) => join(home, "audit.jsonl");

export function createAudit(home: string, { now, onProblem, maxBytes = MAX_BYTES }: AuditOptions): Audit {
  const path = fileIn(home);
  const askToWrite = createRateLimit(() => Date.parse(now()));
  let journal: Journal = open(path, maxBytes);
  let lines = journal.lines.filter(isLine);
  let stamp = stampOf(path);
  let waiting: { readonly note: AuditNote; readonly at: string; readonly leftOut: number }[] = [];
  let isClosed = false;

  /** Another process, such as a command beside the daemon, may have added to the file. */
  function follow(): void {
    if (stampOf(path) === stamp) return;
    journal.close();
    journal = open(path, maxBytes);
    lines = journal.lines.filter(isLine);
  }

  function flush(): void {
    if (waiting.length === 0) return;
    const notes = waiting;
    waiting = [];
    try {
      follow();
      const fresh: string[] = [];
      for (const { note, at, leftOut } of notes) {
        const last = fresh.at(-1) ?? lines.at(-1);
        const before = last === undefined ? undefined : readLine(last);
        const body = { ...note, seq: (before?.seq ?? 0) + 1, at, leftOut, prev: before?.hash ?? "" };
        fresh.push(JSON.stringify({ ...body, hash: hashOf(body) }));
      }
      // One sync of the disk for all entries that came together.
      journal.append(fresh.join("\n"));
      lines.push(...fresh);
      if (journal.size() > maxBytes) {
        lines = lines.slice(-Math.ceil(lines.length / 2));
        journal.rewrite(lines);
      }
      stamp = stampOf(path);
    } catch (error) {
      onProblem(`the audit record cannot be written: ${messageOf(error)}`);
    }
  }

  return {
    record(note) {
      if (isClosed) return;
      const leftOut = isFailure(note) ? askToWrite() : 0;
      if (leftOut === "leave out") return;
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ note: bounded(note), at: now(), leftOut });
    },
    list({ before = Number.POSITIVE_INFINITY, type, limit }) {
      flush();
      const found: AuditEntry[] = [];
      for (let at = lines.length - 1; at >= 0 && found.length < limit; at--) {
        const entry = readLine(lines[at] ?? "");
        if (entry === undefined || entry.seq >= before || (type !== undefined && entry.type !== type)) continue;
        const { hash: _hash, prev: _prev, ...shown } = entry;
        found.push(shown);
      }
      return found;
    },
    flush,
    close() {
      flush();
      isClosed = true;
      journal.close();
    },
  };
}

/** The numbers of lines that were changed or do not follow the line before. Null: an unreadable line. */
export function verifyAudit(home: string): readonly { readonly seq: number | null; readonly what: string }[] {
  const path = fileIn(home);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const journal = openJournal(path, Number.MAX_SAFE_INTEGER);
  journal.close();
  const damage: { seq: number | null; what: string }[] = [];
  let before: Line | undefined;
  for (const text of journal.lines.filter(isLine)) {
    const line = readLine(text);
    if (line === undefined) {
      damage.push({ seq: null, what: `the line after ${before?.seq ?? 0} cannot be read` });
      continue;
    }
    const { hash, ...body } = line;
    if (hashOf(body) !== hash) damage.push({ seq: line.seq, what: "it is not as it was written" });
    else if (before !== undefined && (line.prev !== before.hash || line.seq !== before.seq + 1))
      damage.push({ seq: line.seq, what: `it does not follow ${before.seq}` });
    before = line;
  }
  return damage;
}

type Line = AuditEntry & { readonly prev: string; readonly hash: string };

/** The file is ours and private; lines without a number are skipped here and reported by `verifyAudit`. */
function readLine(text: string): Line | undefined {
  try {
    const value = JSON.parse(text) as Line | null;
    const isKnown = AUDIT_TYPES.some((type) => type === value?.type);
    return isKnown && Number.isSafeInteger(value?.seq) && typeof value?.hash === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An empty line ends an entry that a crash cut off. */
function isLine(text: string): boolean {
  return text !== "";
}

function isFailure({ type }: AuditNote): boolean {
  return type === "auth.failed" || type === "request.refused";
}

function hashOf(body: Omit<Line, "hash">): string {
  return createHash("sha256").update(canonicalJson(body)).digest("hex");
}

const TOKEN = /pr_[a-z]{2}_[A-Za-z0-9_-]{8,}/g;
const TEXT_AT_MOST = 200;

/** Entries contain text from strangers: keep it short, on one line, and without anything that looks like a token. */
function bounded(note: AuditNote): AuditNote {
  const text = (value: string) => value.slice(0, 2000).replaceAll(TOKEN, "[token]").slice(0, TEXT_AT_MOST);
  const plain = (value: string) => text(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
  return { ...note, from: plain(note.from), what: plain(note.what) };
}

function open(path: string, maxBytes: number): Journal {
  return openJournal(path, maxBytes * 2 + 1024 * 1024);
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "absent" : `${found.ino}:${found.size}`;
}
