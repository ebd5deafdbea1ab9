// Loads the changes of a run: those since this person's last decision, all commits, the last attempt, or another attempt.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { parseDiff, type DiffLine, type FileDiff } from "./parse.ts";

/** An attempt that may have changed something. */
export type ChangedBy = { readonly stage: string; readonly attempt: number };

export type Source = "review" | "run" | "last" | ChangedBy;

/** The person's choice; a null source is the first one with changes. */
export type DiffChoice = {
  readonly run: string;
  readonly source: Source | null;
  /** Bytes. */
  readonly wanted: number;
  readonly hidesSpaces: boolean;
};

type Answer = AnswerTo<"runDiff">;

export type DiffText = Pick<Answer, "text" | "size" | "commits" | "reviewed" | "viewed"> & {
  readonly of: Source;
  /** Bytes that were read; null if that is the whole file. */
  readonly next: number | null;
  readonly stat: { readonly files: number; readonly added: number; readonly removed: number; readonly isCut: boolean };
};

const PART = 256 * 1024;
export const FIRST = 1024 * 1024;
export const MOST = 4 * 1024 * 1024;
const EVERY_LINE = 1_000_000;

export function diffQuery({ run, source, wanted, hidesSpaces }: DiffChoice) {
  return {
    queryKey: ["diff", run, source === null ? "" : nameOf(source), wanted, hidesSpaces],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<DiffText> => {
      const limit = Math.min(wanted, MOST);
      const read = async (of: "review" | "run" | "last"): Promise<DiffText> => {
        const query = { of, limit, ...spacesOf(hidesSpaces) };
        const { text, size, isCut, commits, reviewed, viewed, files, added, removed, isStatCut } = await call(
          "runDiff",
          { params: { run }, query },
          { signal },
        );
        const stat = { files: files.length, added, removed, isCut: isStatCut };
        return { of, text, size, commits, reviewed, viewed, next: isCut ? limit : null, stat };
      };
      if (source !== null) return typeof source === "string" ? read(source) : readParts(run, source, wanted, signal);
      const fresh = await read("review");
      // Without an earlier decision this is everything.
      if (fresh.commits !== null) return fresh.reviewed === null ? { ...fresh, of: "run" } : fresh;
      const whole = fresh.reviewed === null ? fresh : await read("run");
      return whole.commits === null ? read("last") : whole;
    },
  };
}

/** Every line of one file, changed or not. */
export async function readWhole(
  { run, hidesSpaces }: Pick<DiffChoice, "run" | "hidesSpaces">,
  of: "review" | "run",
  { path, from }: FileDiff,
): Promise<readonly DiffLine[]> {
  const query = {
    of,
    path,
    ...(from === null ? {} : { oldPath: from }),
    context: EVERY_LINE,
    limit: MOST,
    ...spacesOf(hidesSpaces),
  };
  const { text, isCut } = await call("runDiff", { params: { run }, query });
  const file = parseDiff(text).files.find((each) => each.path === path);
  if (isCut || file === undefined) throw new Error("This file is too large to be shown whole.");
  return file.hunks.flatMap(({ lines }) => lines);
}

export function nameOf(source: Source): string {
  return typeof source === "string" ? source : `${source.stage} #${source.attempt}`;
}

function spacesOf(hides: boolean): { readonly spaces?: "ignored" } {
  return hides ? { spaces: "ignored" } : {};
}

/** The numbers of one attempt are not shown. */
const NO_STAT = { files: 0, added: 0, removed: 0, isCut: false };

/** The daemon sends files of attempts in parts. */
async function readParts(run: string, by: ChangedBy, wanted: number, signal: AbortSignal): Promise<DiffText> {
  let read: DiffText = { of: by, text: "", size: 0, next: 0, commits: null, reviewed: null, viewed: [], stat: NO_STAT };
  while (read.next !== null && read.next < Math.min(wanted, MOST)) {
    const params = { run, stage: by.stage, attempt: by.attempt, file: "diff" as const };
    const part = await call("attemptFile", { params, query: { offset: read.next, limit: PART } }, { signal });
    read = { ...read, text: read.text + part.text, size: part.size, next: part.text === "" ? null : part.next };
  }
  return read;
}
