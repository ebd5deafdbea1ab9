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
};

export type LogIndex = {
  readonly parts: readonly Part[];
  /** Where to continue reading; the last part is read again while the file may grow. */
  readonly next: number;
  /** The beginning of the line that is not complete yet. */
  readonly rest: string;
  readonly lines: number;
  readonly size: number;
  /** The file was read up to its end at that time. */
  readonly isEnd: boolean;
};

/** A longer line is cut here. */
export const LINE_CHARS = 8000;

export const EMPTY: LogIndex = { parts: [], next: 0, rest: "", lines: 0, size: 0, isEnd: false };

/** The index with one more part, or with its last part replaced; and that part's lines. */
export function addPart(
  index: LogIndex,
  part: FilePart,
): { readonly index: LogIndex; readonly lines: readonly string[] } {
  const known = index.parts.findIndex(({ offset }) => offset === part.offset);
  const before = known === -1 ? index.parts : index.parts.slice(0, known);
  const head = known === -1 ? index.rest : (index.parts[known]?.head ?? "");
  const firstLine = known === -1 ? index.lines : (index.parts[known]?.firstLine ?? 0);
  const isEnd = part.next === null;
  const { lines, rest } = splitLines(head, part.text);
  // At the end of the file the last line is shown, complete or not.
  const shown = isEnd && rest !== "" ? [...lines, rest] : lines;
  const placed: Part = { offset: part.offset, firstLine, lines: shown.length, head };
  return {
    lines: shown,
    index: {
      parts: [...before, placed],
      // A part at the end may grow: it is read again from its beginning, so that no character is cut.
      next: part.next ?? part.offset,
      rest: isEnd ? "" : rest,
      lines: firstLine + shown.length,
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
