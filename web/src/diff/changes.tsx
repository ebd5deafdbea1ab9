// Loads and shows the changes of a run, or those of one attempt.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { call } from "../base/api.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import type { DiffFinding } from "./findings.ts";
import { LineCount } from "./file-head.tsx";
import { parseDiff } from "./parse.ts";
import type { DiffReview } from "./rows.ts";
import { DiffViewer } from "./viewer.tsx";
import { optional } from "../../../src/core/optional.ts";

/** An attempt that may have changed something. */
export type ChangedBy = { readonly stage: string; readonly attempt: number };

/** All commits of the run, its last attempt, or another attempt. */
type Source = "run" | "last" | ChangedBy;

export type ChangesProps = {
  readonly run: string;
  /** Oldest first. Shows all commits together by default, or the last attempt if nothing was committed. */
  readonly attempts: readonly ChangedBy[];
  readonly findings?: readonly DiffFinding[];
  readonly review?: DiffReview;
  readonly onReview?: (change: Partial<DiffReview>) => void;
};

const PART = 256 * 1024;
const FIRST = 1024 * 1024;
const MOST = 4 * 1024 * 1024;

export function Changes({ run, attempts, findings, review, onReview }: ChangesProps): ReactNode {
  const [chosen, setChosen] = useState<Source | null>(null);
  const [wanted, setWanted] = useState(FIRST);
  const { data, error, isPending, refetch } = useQuery(diffQuery(run, chosen, wanted));
  const parsed = useMemo(() => parseDiff(data?.text ?? ""), [data?.text]);
  const picker = (
    <Picker
      attempts={attempts}
      shown={data?.of ?? "run"}
      choose={(source) => {
        setChosen(source);
        setWanted(FIRST);
      }}
    />
  );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (isPending) return <Loading what="changes" />;
  const { files, notes } = parsed;
  if (files.length === 0 && notes.length === 0)
    return (
      <div className="flex flex-col gap-3">
        {picker}
        <p className="text-sm text-muted">{chosen === null ? "No changes yet." : "No changes in this attempt."}</p>
      </div>
    );
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const said = review?.comments.length ?? 0;
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3 text-sm">
        {picker}
        <LineCount added={added} removed={removed} />
        {said > 0 && (
          <span className="text-attention">
            {said} {said === 1 ? "comment" : "comments"} of yours
          </span>
        )}
      </div>
      {onReview !== undefined && (
        <p className="text-xs text-muted">
          Click a line number to comment on it. Your comments are sent with your decision.
        </p>
      )}
      {notes.map((note) => (
        <p key={note} className="rounded-md bg-warning-soft px-3 py-2 text-sm text-warning">
          <span aria-hidden="true">⚠ </span>
          <SafeText>{note}</SafeText>
        </p>
      ))}
      <DiffViewer
        files={files}
        name={run}
        {...optional({ findings })}
        {...optional({ review })}
        {...optional({ onReview })}
      />
      {data.next !== null && (
        <p className="flex flex-wrap items-center gap-3 text-sm text-muted">
          Showing {megabytes(data.next)} of {megabytes(data.size)}.
          <Button
            disabledBecause={data.next >= MOST ? "A page cannot show more than this." : undefined}
            onClick={() => setWanted(wanted + FIRST)}
          >
            Show more
          </Button>
        </p>
      )}
    </div>
  );
}

function Picker({
  attempts,
  shown,
  choose,
}: {
  readonly attempts: readonly ChangedBy[];
  readonly shown: Source;
  readonly choose: (source: Source) => void;
}): ReactNode {
  return (
    <label className="flex items-center gap-2 text-sm">
      <span className="text-muted">Show</span>
      <select
        value={nameOf(shown)}
        onChange={({ target: { value } }) =>
          choose(value === "run" || value === "last" ? value : (attempts.find((by) => nameOf(by) === value) ?? "run"))
        }
        className="min-h-9 rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
      >
        <option value="run">all commits</option>
        <option value="last">the last attempt</option>
        {attempts.toReversed().map((by) => (
          <option key={nameOf(by)} value={nameOf(by)}>
            {nameOf(by)}
          </option>
        ))}
      </select>
    </label>
  );
}

function nameOf(source: Source): string {
  return typeof source === "string" ? source : `${source.stage} #${source.attempt}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

type Text = {
  readonly of: Source;
  readonly text: string;
  readonly size: number;
  /** Bytes that were read; null if that is the whole file. */
  readonly next: number | null;
};

function diffQuery(run: string, source: Source | null, wanted: number) {
  return {
    queryKey: ["diff", run, source === null ? "" : nameOf(source), wanted],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Text> => {
      if (source !== null && typeof source !== "string") return readParts(run, source, wanted, signal);
      const read = async (of: "run" | "last"): Promise<Text> => {
        const limit = Math.min(wanted, MOST);
        const { text, size, isCut } = await call("runDiff", { params: { run }, query: { of, limit } }, { signal });
        return { of, text, size, next: isCut ? limit : null };
      };
      if (source !== null) return read(source);
      const whole = await read("run");
      return whole.size === 0 ? read("last") : whole;
    },
  };
}

/** The daemon sends files of attempts in parts. */
async function readParts(run: string, by: ChangedBy, wanted: number, signal: AbortSignal): Promise<Text> {
  let read: Text = { of: by, text: "", size: 0, next: 0 };
  while (read.next !== null && read.next < Math.min(wanted, MOST)) {
    const params = { run, stage: by.stage, attempt: by.attempt, file: "diff" as const };
    const part = await call("attemptFile", { params, query: { offset: read.next, limit: PART } }, { signal });
    read = { of: by, text: read.text + part.text, size: part.size, next: part.text === "" ? null : part.next };
  }
  return read;
}
