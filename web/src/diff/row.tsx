// One row of a diff, of any kind.

import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { CommentCard, CommentForm, type WriteComment } from "./comment.tsx";
import { type Comment, isAbout } from "./comments.ts";
import { FileHead } from "./file-head.tsx";
import { FindingCard } from "./finding.tsx";
import { Gap } from "./gap.tsx";
import { LineView, PairView } from "./line.tsx";
import type { FileDiff } from "./parse.ts";
import { type LinePlace, placeKey, placeOf, placesOf } from "./places.ts";
import { type Row, viewedKey } from "./rows.ts";
import type { Colour } from "./use-colours.ts";

export type RowActs = {
  readonly toggle: (file: FileDiff) => void;
  readonly look: (file: FileDiff, is: boolean) => void;
  readonly viewed: ReadonlySet<string>;
  /** Shows lines that the diff leaves out; absent if they are unknown. */
  readonly open: ((file: FileDiff, gap: number, lines: number) => void) | undefined;
  /** The one line that Tab reaches; arrows move to the others. */
  readonly stop: string | null;
  readonly setFocused: (place: string) => void;
  readonly writing: Comment | null;
  /** The present text of the lines that the comment is about. */
  readonly current: string | null;
  readonly begin: ((place: LinePlace, extend: boolean) => void) | undefined;
  readonly colour: Colour;
  /** The number of findings in a file. */
  readonly found: (file: FileDiff) => number;
  readonly write: WriteComment;
  readonly say: () => void;
  readonly close: () => void;
  readonly edit: ((comment: Comment) => void) | undefined;
  readonly drop: ((comment: Comment) => void) | undefined;
};

export function RowView({ row, ...acts }: { readonly row: Row } & RowActs): ReactNode {
  switch (row.type) {
    case "file":
      return (
        <FileHead
          file={row.file}
          isOpen={row.isOpen}
          isViewed={acts.viewed.has(viewedKey(row.file))}
          found={acts.found(row.file)}
          toggle={() => acts.toggle(row.file)}
          look={(is) => acts.look(row.file, is)}
        />
      );
    case "hidden":
      return (
        <p className="flex items-center gap-3 px-4 py-1.5 font-sans text-muted">
          {row.why}
          {row.file.hunks.length > 0 && <Button onClick={() => acts.toggle(row.file)}>Show them</Button>}
        </p>
      );
    case "gap":
      return <Gap {...row} open={acts.open} />;
    case "line":
    case "pair":
      return <LineRow row={row} {...acts} />;
    case "finding":
      return <FindingCard finding={row.finding} />;
    case "comment": {
      const { comment } = row;
      const { edit, drop } = acts;
      return (
        <CommentCard
          comment={comment}
          {...(edit === undefined ? {} : { edit: () => edit(comment) })}
          {...(drop === undefined ? {} : { drop: () => drop(comment) })}
        />
      );
    }
    case "writing":
      return acts.writing === null ? null : <CommentForm {...acts} writing={acts.writing} />;
  }
}

function LineRow({ row, ...acts }: { readonly row: Row & { type: "line" | "pair" } } & RowActs): ReactNode {
  const { writing, stop, begin, setFocused, colour } = acts;
  const rest = { file: row.file, begin, setFocused, colour };
  if (row.type === "line") {
    const place = placeOf(row.file, row.line);
    const isStop = place !== null && placeKey(place) === stop;
    const isMeant = place !== null && writing !== null && isAbout(writing, place);
    return <LineView line={row.line} isStop={isStop} isMeant={isMeant} {...rest} />;
  }
  const places = placesOf(row.file, row.pair);
  const hasStop = places.some((place) => placeKey(place) === stop);
  const meant = places.find((place) => writing !== null && isAbout(writing, place))?.side ?? null;
  return <PairView pair={row.pair} stop={hasStop ? stop : null} meant={meant} {...rest} />;
}
