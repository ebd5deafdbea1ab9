// One row of a diff, of any kind.

import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { CommentCard, CommentForm } from "./comment.tsx";
import { FileHead } from "./file-head.tsx";
import { FindingCard } from "./finding.tsx";
import { LineView, PairView } from "./line.tsx";
import type { FileDiff } from "./parse.ts";
import { type Comment, type LinePlace, placeKey, placeOf, placesOf, type Row, viewedKey } from "./rows.ts";
import type { Colour } from "./use-colours.ts";
import { Ellipsis } from "lucide-react";

export type RowActs = {
  readonly toggle: (file: FileDiff) => void;
  readonly look: (file: FileDiff, is: boolean) => void;
  readonly viewed: ReadonlySet<string>;
  /** The one line that Tab reaches; arrows move to the others. */
  readonly stop: string | null;
  readonly setFocused: (place: string) => void;
  readonly writing: Comment | null;
  readonly begin: ((place: LinePlace) => void) | undefined;
  readonly colour: Colour | undefined;
  /** The number of findings in a file. */
  readonly found: (file: FileDiff) => number;
  readonly write: (change: Partial<Pick<Comment, "text" | "severity">>) => void;
  readonly say: () => void;
  readonly close: () => void;
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
    case "hunk":
      return (
        <p className="truncate bg-active-soft px-4 py-0.5 text-active">
          <Ellipsis className="mr-1 inline size-4" />
          <SafeText max={300}>{row.head}</SafeText>
        </p>
      );
    case "line": {
      const place = placeOf(row.file, row.line);
      const isStop = place !== null && placeKey(place) === acts.stop;
      return <LineView file={row.file} line={row.line} isStop={isStop} {...lineActs(acts)} />;
    }
    case "pair": {
      const hasStop = placesOf(row.file, row.pair).some((place) => placeKey(place) === acts.stop);
      return <PairView file={row.file} pair={row.pair} stop={hasStop ? acts.stop : null} {...lineActs(acts)} />;
    }
    case "finding":
      return <FindingCard finding={row.finding} />;
    case "comment": {
      const { drop } = acts;
      return <CommentCard comment={row.comment} {...(drop === undefined ? {} : { drop: () => drop(row.comment) })} />;
    }
    case "writing":
      return acts.writing === null ? null : <CommentForm {...acts} writing={acts.writing} />;
  }
}

function lineActs({ begin, setFocused, colour }: RowActs): Pick<RowActs, "begin" | "setFocused" | "colour"> {
  return { begin, setFocused, colour };
}
