// The lines of a growing file that is loaded in parts. The index remembers where the lines of every part begin, but the text of only some
// parts, so the page stays small however long the log is. A line that crosses parts belongs to the part in which it ends.

export type Part = {
  /** Bytes before it. */
  readonly offset: number;
  /** How many lines end before it. */
  readonly firstLine: number;
  readonly lines: number;
  /** The beginning of its first line, from the earlier parts. */
  readonly head: string;
};
export type FilePart = {
  readonly text: string;
  readonly offset: number;
  readonly next: number | null;
  readonly size: number;
  /** Behind its last whole line. */
  readonly wholeTo: number;
};

export type LogIndex = {
  readonly parts: readonly Part[];
  /** Where to continue reading: behind the last whole line while the file may grow. */
  readonly next: number;
  /** The beginning of the line that is not complete yet. */
  readonly rest: string;
  readonly lines: number;
  /** The last line has no end yet, and the next part has it again. */
  readonly isOpen: boolean;
  readonly size: number;
  /** The file was read up to its end at that time. */
  readonly isEnd: boolean;
};

/** A longer line is cut here. */
export const LINE_CHARS = 8000;

export const EMPTY: LogIndex = { parts: [], next: 0, rest: "", lines: 0, isOpen: false, size: 0, isEnd: false };

/** A part that grows while it is followed stays within what one request reads. */
const PART_BYTES = 256 * 1024;

export type AddedPart = {
  readonly index: LogIndex;
  /** The part that has these lines. */
  readonly at: number;
  /** They come behind the whole lines that this part has already. */
  readonly isMore: boolean;
  readonly lines: readonly string[];
};

/** The index with one more part. Text read while a file grows lengthens the last part. */
export function addPart(index: LogIndex, part: FilePart): AddedPart {
  const isEnd = part.next === null;
  const { lines, rest } = splitLines(index.rest, part.text);
  const isOpen = isEnd && rest !== "";
  // At the end of the file the last line is shown, complete or not.
  const shown = isOpen ? [...lines, rest] : lines;
  const whole = index.lines - (index.isOpen ? 1 : 0);
  const last = index.parts.at(-1);
  const isMore = index.isEnd && last !== undefined && (part.next ?? part.size) - last.offset <= PART_BYTES;
  const before = index.parts.slice(0, isMore ? -1 : undefined);
  const placed: Part = isMore
    ? { ...last, lines: whole - last.firstLine + shown.length }
    : { offset: part.offset, firstLine: whole, lines: shown.length, head: index.rest };
  // The open line is read again with the next part, so it no longer counts to the one before.
  const closed = before.map((each, at) =>
    at === before.length - 1 ? { ...each, lines: Math.min(each.lines, whole - each.firstLine) } : each,
  );
  return {
    at: placed.offset,
    isMore,
    lines: shown,
    index: {
      parts: [...closed, placed],
      next: part.next ?? part.wholeTo,
      rest: !isEnd ? rest : part.wholeTo === part.offset ? index.rest : "",
      lines: whole + shown.length,
      isOpen,
      size: part.size,
      isEnd,
    },
  };
}

/** The lines of a part that was read earlier and dropped. `isLast`: the text after the last newline is a line, too. */
export function linesOf(part: Part, text: string, isLast: boolean): readonly string[] {
  const { lines, rest } = splitLines(part.head, text);
  return isLast && rest !== "" ? [...lines, rest] : lines;
}

function splitLines(head: string, text: string): { readonly lines: readonly string[]; readonly rest: string } {
  const pieces = `${head}${text}`.split("\n");
  const rest = cut(pieces.pop() ?? "");
  return { lines: pieces.map(cut), rest };
}

function cut(line: string): string {
  const end = line.endsWith("\r") ? line.slice(0, -1) : line;
  return end.length > LINE_CHARS ? `${end.slice(0, LINE_CHARS)}…` : end;
}

/** The part that holds a line, counted from 0. */
export function partAt(parts: readonly Part[], line: number): Part | undefined {
  let low = 0;
  let high = parts.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const part = parts[middle];
    if (part === undefined) return undefined;
    if (line < part.firstLine) high = middle - 1;
    else if (line >= part.firstLine + part.lines) low = middle + 1;
    else return part;
  }
  return undefined;
}
