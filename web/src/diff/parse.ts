// Reads a unified diff as git writes it. An agent made the text, so the parser trusts nothing: it runs no pattern over long text, and only
// the numbers in a hunk's head end the hunk, because a removed line that begins with two dashes looks like a file name.

export type DiffLine = {
  readonly kind: "same" | "added" | "removed" | "note";
  /** Numbers in the file before and after; null if the line is not in it. */
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
};

export type Hunk = {
  readonly head: string;
  /** Its number in the diff. */
  readonly gap: number;
  /** The lines above it that the diff leaves out. */
  readonly hidden: number;
  readonly lines: readonly DiffLine[];
};

export type FileDiff = {
  readonly path: string;
  /** The old path, if the file was moved. */
  readonly from: string | null;
  readonly change: "changed" | "added" | "removed" | "renamed" | "copied" | "mode";
  readonly isBinary: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  /** The number of hunks in the diff. */
  readonly gaps: number;
  /** The lines below the last hunk that the diff leaves out; null if it does not say. */
  readonly below: number | null;
  /** The same as long as the file is the same: git's id of its text, or a number over its changes where the diff does not have that. */
  readonly version: string;
};

export type ParsedDiff = {
  readonly files: readonly FileDiff[];
  /** Passrail's note in the diff: it was cut, or could not be made. */
  readonly notes: readonly string[];
};

const OURS = "[passrail: ";

export function parseDiff(text: string): ParsedDiff {
  const files: FileDiff[] = [];
  const notes: string[] = [];
  let file: Open | undefined;
  let hunk: OpenHunk | undefined;
  const close = (): void => {
    if (file !== undefined) files.push(closed(file));
    file = hunk = undefined;
  };

  for (const line of linesOf(text)) {
    if (line.startsWith(OURS)) notes.push(line.slice(OURS.length).replace(/\]$/, ""));
    else if (file !== undefined && hunk !== undefined && take(file, hunk, line)) continue;
    else if (line.startsWith("diff --git ")) {
      close();
      file = opened(line);
    } else if (file === undefined) continue;
    else if (line.startsWith("@@ ")) hunk = openHunk(file, line);
    else readHead(file, line);
  }
  close();
  return { files, notes };
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    yield end === -1 ? text.slice(from) : text.slice(from, end);
    from = end === -1 ? text.length : end + 1;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Open = Omit<Mutable<FileDiff>, "hunks" | "gaps" | "below" | "version"> & {
  hunks: Mutable<Hunk>[];
  hash: number;
  /** Git's id of the new text, if the diff has it in full. */
  id: string | null;
  /** The line after the last hunk. */
  next: number;
};
type OpenHunk = { lines: DiffLine[]; old: number; new: number; leftOld: number; leftNew: number };

function opened(head: string): Open {
  const path = pathIn(head);
  const nothing = { isBinary: false, added: 0, removed: 0, hunks: [] };
  return { path, from: null, change: "changed", ...nothing, hash: 0x811c9dc5, id: null, next: 1 };
}

function closed({ hash, id, next: _next, hunks, ...file }: Open): FileDiff {
  const change = file.change === "mode" && (hunks.length > 0 || file.isBinary) ? "changed" : file.change;
  const below = change === "added" || change === "removed" || endsFile(hunks.at(-1)) ? 0 : null;
  const version = id ?? `${hunks.length}-${(hash >>> 0).toString(36)}`;
  return { ...file, change, hunks, gaps: hunks.length, below, version };
}

/** Git shows three unchanged lines below a change, unless the file ends before. */
function endsFile(last: Hunk | undefined): boolean {
  return last === undefined || last.lines.slice(-3).some(({ kind }) => kind !== "same");
}

const HUNK = /^@@ -([0-9]{1,10})(?:,([0-9]{1,10}))? \+([0-9]{1,10})(?:,([0-9]{1,10}))? @@ ?/;

function openHunk(file: Open, line: string): OpenHunk | undefined {
  const found = HUNK.exec(line.slice(0, 100));
  if (found === null) return undefined;
  const [all, old = "0", leftOld = "1", fresh = "0", leftNew = "1"] = found;
  const lines: DiffLine[] = [];
  // Without a line in the new text, the number is that of the line before.
  const begins = leftNew === "0" ? Number(fresh) + 1 : Number(fresh);
  const hidden = file.change === "removed" ? 0 : Math.max(0, begins - file.next);
  file.hunks.push({ head: line.slice(all.length), gap: file.hunks.length, hidden, lines });
  file.next = begins + Number(leftNew);
  return { lines, old: Number(old), new: Number(fresh), leftOld: Number(leftOld), leftNew: Number(leftNew) };
}

/** Whether the line belongs to the hunk. */
function take(file: Open, hunk: OpenHunk, line: string): boolean {
  // "\ No newline at end of file" may follow the last line.
  if (line.startsWith("\\") && hunk.lines.length > 0) {
    hunk.lines.push({ kind: "note", old: null, new: null, text: line.slice(2) });
    return true;
  }
  if (hunk.leftOld <= 0 && hunk.leftNew <= 0) return false;
  const text = line.slice(1);
  file.hash = hashed(file.hash, line);
  if (line.startsWith("+")) {
    hunk.lines.push({ kind: "added", old: null, new: hunk.new++, text });
    hunk.leftNew--;
    file.added++;
  } else if (line.startsWith("-")) {
    hunk.lines.push({ kind: "removed", old: hunk.old++, new: null, text });
    hunk.leftOld--;
    file.removed++;
  } else {
    hunk.lines.push({ kind: "same", old: hunk.old++, new: hunk.new++, text });
    hunk.leftOld--;
    hunk.leftNew--;
  }
  return true;
}

const INDEX = /^index (?:[0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})(?: |$)/;

function readHead(file: Open, line: string): void {
  const after = (prefix: string): string | undefined =>
    line.startsWith(prefix) ? unquoted(line.slice(prefix.length)) : undefined;
  const id = INDEX.exec(line.slice(0, 200))?.[1];
  if (id !== undefined) file.id = id;
  else if (line.startsWith("new file mode ")) file.change = "added";
  else if (line.startsWith("deleted file mode ")) file.change = "removed";
  else if (line.startsWith("new mode ") && file.change === "changed") file.change = "mode";
  else if (line.startsWith("Binary files ") || line === "GIT binary patch") file.isBinary = true;
  else if (line.startsWith("rename from ")) Object.assign(file, { from: after("rename from "), change: "renamed" });
  else if (line.startsWith("copy from ")) Object.assign(file, { from: after("copy from "), change: "copied" });
  else {
    const to = after("rename to ") ?? after("copy to ") ?? withoutSide(after("+++ "), "b/");
    if (to !== undefined && to !== "/dev/null") file.path = to;
  }
}

function withoutSide(path: string | undefined, side: string): string | undefined {
  return path?.startsWith(side) === true ? path.slice(side.length) : path;
}

/** `a/NAME b/NAME`, where no other line names the file: the two are the same then. */
function pathIn(head: string): string {
  const names = head.slice("diff --git ".length, 9000).trimEnd();
  const half = (names.length - 1) / 2;
  if (names.startsWith("a/") && names.slice(2, half) === names.slice(half + 3)) return names.slice(2, half);
  const second = Math.max(names.lastIndexOf(" b/"), names.lastIndexOf(' "b/'));
  return withoutSide(unquoted(second === -1 ? names : names.slice(second + 1)), "b/") ?? names;
}

const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, "\\": 92 };

/** Git puts names with special characters in quotes, as bytes. A name with spaces has a tab behind it instead. */
function unquoted(given: string): string {
  const name = given.endsWith("\t") ? given.slice(0, -1) : given;
  if (!name.startsWith('"') || !name.endsWith('"') || name.length < 2) return name;
  const inner = name.slice(1, -1);
  const bytes: number[] = [];
  const plain = new TextEncoder();
  for (let at = 0; at < inner.length; at++) {
    const char = inner[at] ?? "";
    if (char !== "\\") {
      const whole = String.fromCodePoint(inner.codePointAt(at) ?? 0);
      bytes.push(...plain.encode(whole));
      at += whole.length - 1;
      continue;
    }
    const octal = inner.slice(at + 1, at + 4);
    if (/^[0-3][0-7]{2}$/.test(octal)) {
      bytes.push(Number.parseInt(octal, 8));
      at += 3;
    } else {
      bytes.push(ESCAPES[inner[at + 1] ?? ""] ?? 63);
      at += 1;
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** FNV-1a over the text; of a very long line only the beginning and its length. */
function hashed(start: number, line: string): number {
  let hash = start;
  const end = Math.min(line.length, 400);
  for (let at = 0; at < end; at++) hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  return Math.imul(hash ^ line.length, 0x01000193);
}
