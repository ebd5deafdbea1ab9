// Reads the record of an attempt in whole lines, forwards or backwards, as events for people. An agent may write what it likes into a line:
// never more than a bounded part is in memory.

import type { FileHandle } from "node:fs/promises";
import { type ActivityEvent, printedLine, readActivityLine } from "../../core/view/activity-event.ts";
import { stripAnsi } from "../../core/secrets/strip-ansi.ts";

export type ActivitySource = {
  readonly is: "events" | "output";
  readonly handle: FileHandle;
  readonly size: number;
  /** The file is complete: the text after the last end of a line is a line. */
  readonly isOver: boolean;
  /** The folder that the agent works in, or nothing. */
  readonly root: string;
};

export type ActivityPart = {
  readonly from: number;
  readonly to: number;
  readonly isEnd: boolean;
  readonly events: ActivityEvent[];
};

/** The longest line that is read whole; the record's own limits keep its lines below. */
const LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Whole lines from `from`, as many as fit. A line that is not finished yet is left for the next call. */
export async function readForwards(source: ActivitySource, from: number, limit: number): Promise<ActivityPart> {
  const start = Math.min(from, source.size);
  let bytes = await piece(source, start, limit);
  if (bytes.lastIndexOf(NEWLINE) === -1 && start + bytes.length < source.size)
    bytes = await piece(source, start, LINE_BYTES);
  const isRead = start + bytes.length >= source.size;
  const whole = isRead && source.isOver ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
  // A line beyond every limit is skipped piece by piece; what it says is in the raw file.
  const used = whole === 0 && !isRead ? bytes.length : whole;
  const events = eventsIn(source, bytes.subarray(0, whole), start);
  return { from: start, to: start + used, isEnd: isRead, events };
}

/** Whole lines that end at `before`, as many as fit. */
export async function readBackwards(source: ActivitySource, before: number, limit: number): Promise<ActivityPart> {
  const end = Math.min(before, source.size);
  const span = async (length: number): Promise<{ readonly begin: number; readonly bytes: Buffer }> => {
    const begin = Math.max(0, end - length);
    const bytes = await piece(source, begin, end - begin);
    return { begin, bytes };
  };
  let { begin, bytes } = await span(limit);
  let first = lineStart(bytes, begin);
  if (first === -1) {
    ({ begin, bytes } = await span(LINE_BYTES));
    first = lineStart(bytes, begin);
  }
  const last = end >= source.size && source.isOver ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
  if (first === -1) return { from: begin, to: end, isEnd: end >= source.size, events: [] };
  const lines = bytes.subarray(first, Math.max(first, last));
  const to = begin + Math.max(first, last);
  return { from: begin + first, to, isEnd: end >= source.size, events: eventsIn(source, lines, begin + first) };
}

/** Where the first whole line begins; -1 if the part is inside of one. */
function lineStart(bytes: Buffer, begin: number): number {
  if (begin === 0) return 0;
  const newline = bytes.indexOf(NEWLINE);
  // The last byte is the end of the line before: then the line itself did not fit.
  return newline === -1 || newline === bytes.length - 1 ? -1 : newline + 1;
}

function eventsIn({ is, root }: ActivitySource, lines: Buffer, start: number): ActivityEvent[] {
  const events: ActivityEvent[] = [];
  for (let from = 0; from < lines.length; ) {
    const found = lines.indexOf(NEWLINE, from);
    const end = found === -1 ? lines.length : found;
    const line = lines.toString("utf8", from, end);
    const event = is === "events" ? readActivityLine(line, start + from, root) : printedLine(plain(line), start + from);
    if (event !== undefined) events.push(event);
    from = end + 1;
  }
  return events;
}

const plain = (line: string): string => stripAnsi(line.endsWith("\r") ? line.slice(0, -1) : line);

async function piece({ handle, size }: ActivitySource, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - from)));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}
