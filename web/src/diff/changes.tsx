// The changes of a run: those since this person's last decision, all, or those of one attempt.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { optional } from "../../../src/core/optional.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import type { DiffReview } from "./comments.ts";
import { LineCount } from "./line-count.tsx";
import type { DiffFinding } from "./findings.ts";
import { type FileDiff, parseDiff } from "./parse.ts";
import { type ChangedBy, type DiffText, diffQuery, FIRST, MOST, readWhole, type Source } from "./query.ts";
import { SourceChoice } from "./source-choice.tsx";
import { useSpaces } from "./use-spaces.ts";
import type { OnReview } from "./use-review.ts";
import { useViewed } from "./viewed.ts";
import { DiffViewer } from "./viewer.tsx";
import { Icon } from "../ui/icon.tsx";

export type ChangesProps = {
  readonly run: string;
  /** Oldest first. */
  readonly attempts: readonly ChangedBy[];
  readonly findings?: readonly DiffFinding[];
  readonly review?: DiffReview;
  readonly onReview?: OnReview;
};

export function Changes({ run, attempts, findings, review, onReview }: ChangesProps): ReactNode {
  const [source, setSource] = useState<Source | null>(null);
  const [wanted, setWanted] = useState(FIRST);
  const [hidesSpaces, hideSpaces] = useSpaces();
  // It knows what this person has looked at before, whatever is shown.
  const first = useQuery(diffQuery({ run, source: null, wanted: FIRST, hidesSpaces }));
  const { data, error, isPending, refetch } = useQuery(diffQuery({ run, source, wanted, hidesSpaces }));
  const parsed = useMemo(() => parseDiff(data?.text ?? ""), [data?.text]);
  const { viewed, look } = useViewed(run, first.data?.viewed ?? NONE);
  const of = data?.of;
  const loadWhole = useCallback(
    (file: FileDiff) => readWhole({ run, hidesSpaces }, of === "review" ? "review" : "run", file),
    [run, hidesSpaces, of],
  );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (isPending) return <Loading what="changes" />;
  const { files, notes } = parsed;
  const head = (
    <Head
      attempts={attempts}
      data={data}
      reviewed={first.data?.reviewed ?? null}
      files={files}
      said={review?.comments.length ?? 0}
      choose={(next) => {
        setSource(next);
        setWanted(FIRST);
      }}
      hidesSpaces={hidesSpaces}
      hideSpaces={hideSpaces}
    />
  );
  if (files.length === 0 && notes.length === 0)
    return (
      <div className="flex flex-col gap-3">
        {head}
        <p className="text-sm text-muted">{emptyText(data, hidesSpaces)}</p>
      </div>
    );
  return (
    <div className="flex flex-col gap-3">
      {head}
      {onReview !== undefined && (
        <p className="text-xs text-muted">
          Click a line number to comment on the line; hold Shift and click another to comment on all lines between. Your
          comments are sent with your decision.
        </p>
      )}
      {notes.map((note) => (
        <p key={note} className="rounded-md bg-warning-soft px-3 py-2 text-sm text-warning">
          <Icon name="warning" className="mr-1 inline" />
          <SafeText>{note}</SafeText>
        </p>
      ))}
      <DiffViewer
        key={run}
        files={files}
        viewed={viewed}
        look={look}
        {...(data.commits === null ? {} : { loadWhole })}
        {...optional({ findings, review, onReview })}
      />
      <Rest data={data} more={() => setWanted(wanted + FIRST)} />
    </div>
  );
}

const NONE: DiffText["viewed"] = [];

function emptyText({ of, commits }: DiffText, hidesSpaces: boolean): string {
  if (hidesSpaces && commits !== null) return "Only white space changed.";
  if (of === "review") return "Nothing has changed since your last decision.";
  return typeof of === "string" ? "No changes yet." : "No changes in this attempt.";
}

function Head({
  attempts,
  data,
  reviewed,
  files,
  said,
  choose,
  hidesSpaces,
  hideSpaces,
}: {
  readonly attempts: readonly ChangedBy[];
  readonly data: DiffText;
  readonly reviewed: DiffText["reviewed"];
  readonly files: readonly FileDiff[];
  readonly said: number;
  readonly choose: (source: Source) => void;
  readonly hidesSpaces: boolean;
  readonly hideSpaces: (hides: boolean) => void;
}): ReactNode {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
      <SourceChoice attempts={attempts} shown={data.of} reviewed={reviewed} choose={choose} />
      <LineCount
        added={files.reduce((sum, file) => sum + file.added, 0)}
        removed={files.reduce((sum, file) => sum + file.removed, 0)}
      />
      {said > 0 && (
        <span className="text-attention">
          {said} {said === 1 ? "comment" : "comments"} of yours
        </span>
      )}
      {/* The diff of an attempt is a file as it was written. */}
      {(data.of === "run" || data.of === "review") && (
        <label className="flex min-h-9 cursor-pointer items-center gap-1.5 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            checked={hidesSpaces}
            onChange={({ target }) => hideSpaces(target.checked)}
            className="size-4"
          />
          Hide white space
        </label>
      )}
    </div>
  );
}

/** The part of a very large diff that was not read. */
function Rest({ data: { next, size }, more }: { readonly data: DiffText; readonly more: () => void }): ReactNode {
  if (next === null) return null;
  return (
    <p className="flex flex-wrap items-center gap-3 text-sm text-muted">
      Showing {megabytes(next)} of {megabytes(size)}.
      <Button disabledBecause={next >= MOST ? "A page cannot show more than this." : undefined} onClick={more}>
        Show more
      </Button>
    </p>
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
