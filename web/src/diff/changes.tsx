// What a run has changed, fetched and read: all of it, or what one attempt did. Loading, nothing there and too much to show are said.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import type { AnswerTo } from "../../../src/client/input.ts";
import { call } from "../app/api.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { LineCount } from "./file-head.tsx";
import { parseDiff } from "./parse.ts";
import type { Comment } from "./rows.ts";
import { DiffViewer } from "./viewer.tsx";

/** An attempt that may have changed something. */
export type ChangedBy = { readonly stage: string; readonly attempt: number };

export type ChangesProps = {
  readonly run: string;
  /** Oldest first; the last one with a diff is shown unless another is chosen. */
  readonly attempts: readonly ChangedBy[];
  readonly comments?: readonly Comment[];
  readonly onComments?: (comments: readonly Comment[]) => void;
};

const PART = 256 * 1024;
const FIRST = 1024 * 1024;
const MOST = 16 * 1024 * 1024;

export function Changes({ run, attempts, comments = [], onComments }: ChangesProps): ReactNode {
  const [chosen, setChosen] = useState<ChangedBy | null>(null);
  const [wanted, setWanted] = useState(FIRST);
  const { data, error, isPending, refetch } = useQuery(diffQuery(run, chosen, wanted));
  const parsed = useMemo(() => parseDiff(data?.text ?? ""), [data?.text]);
  const picker = (
    <Picker
      attempts={attempts}
      chosen={chosen}
      shown={data?.by ?? null}
      choose={(by) => {
        setChosen(by);
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
        <p className="text-sm text-muted">
          {chosen === null ? "Nothing has been changed yet." : "It changed nothing."}
        </p>
      </div>
    );
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3 text-sm">
        {picker}
        <LineCount added={added} removed={removed} />
        {comments.length > 0 && (
          <span className="text-attention">
            {comments.length} {comments.length === 1 ? "comment" : "comments"} of yours
          </span>
        )}
      </div>
      {onComments !== undefined && (
        <p className="text-xs text-muted">A click on a line's number comments on it; comments go with your decision.</p>
      )}
      {notes.map((note) => (
        <p key={note} className="rounded-md bg-warning-soft px-3 py-2 text-sm text-warning">
          <span aria-hidden="true">⚠ </span>
          <SafeText>{note}</SafeText>
        </p>
      ))}
      <DiffViewer files={files} name={run} comments={comments} {...(onComments === undefined ? {} : { onComments })} />
      {data.next !== null && (
        <p className="flex flex-wrap items-center gap-3 text-sm text-muted">
          Shown is {megabytes(data.next)} of {megabytes(data.size)}.
          <Button
            disabledBecause={data.next >= MOST ? "More than this is too much for a page." : undefined}
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
  chosen,
  shown,
  choose,
}: {
  readonly attempts: readonly ChangedBy[];
  readonly chosen: ChangedBy | null;
  readonly shown: ChangedBy | null;
  readonly choose: (by: ChangedBy | null) => void;
}): ReactNode {
  const last = shown !== null && chosen === null ? ` (${nameOf(shown)})` : "";
  if (attempts.length < 2) return null;
  return (
    <label className="flex items-center gap-2">
      <span className="text-muted">Changes of</span>
      <select
        value={chosen === null ? "" : nameOf(chosen)}
        onChange={({ target }) => choose(attempts.find((by) => nameOf(by) === target.value) ?? null)}
        className="min-h-9 rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
      >
        <option value="">the last attempt{last}</option>
        {attempts.toReversed().map((by) => (
          <option key={nameOf(by)} value={nameOf(by)}>
            {nameOf(by)}
          </option>
        ))}
      </select>
    </label>
  );
}

function nameOf({ stage, attempt }: ChangedBy): string {
  return `${stage} #${attempt}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

type Text = {
  readonly by: ChangedBy | null;
  readonly text: string;
  readonly size: number;
  /** Bytes that were read; null where that is all. */
  readonly next: number | null;
};

function diffQuery(run: string, by: ChangedBy | null, wanted: number) {
  return {
    queryKey: ["diff", run, by === null ? "last" : nameOf(by), wanted],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Text> => {
      if (by !== null) return readOn(run, by, { text: "", next: 0, size: 0, by }, wanted, signal);
      const whole: AnswerTo<"runDiff"> = await call(
        "runDiff",
        { params: { run }, query: { limit: FIRST } },
        { signal },
      );
      const { stage, attempt, text, size, isCut } = whole;
      if (stage === null || attempt === null) return { by: null, text: "", size: 0, next: null };
      const last = { stage, attempt };
      const next = isCut ? new TextEncoder().encode(text).length : null;
      return readOn(run, last, { by: last, text, size, next }, wanted, signal);
    },
  };
}

/** The daemon gives files in parts; as many as are wanted are put together. */
async function readOn(run: string, by: ChangedBy, start: Text, wanted: number, signal: AbortSignal): Promise<Text> {
  let text = start;
  while (text.next !== null && text.next < Math.min(wanted, MOST)) {
    const params = { run, ...by, file: "diff" as const };
    const part = await call("attemptFile", { params, query: { offset: text.next, limit: PART } }, { signal });
    text = { by, text: text.text + part.text, size: part.size, next: part.next };
    if (part.text === "") return { ...text, next: null };
  }
  return text;
}
