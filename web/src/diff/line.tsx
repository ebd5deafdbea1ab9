// Lines of a diff, in one column or in two. The line number is the button that starts a comment.

import { memo, type ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import type { Pair } from "./pairs.ts";
import type { DiffLine, FileDiff } from "./parse.ts";
import { type LinePiece, piecesOf } from "./pieces.ts";
import { type LinePlace, placeKey, placeOf } from "./places.ts";
import { linesIn } from "./rows.ts";
import type { Colour } from "./use-colours.ts";
import { changedWords } from "./words.ts";

export type LineActs = {
  /** Absent if the diff takes no comments. `extends`: up to here, from the line where it began. */
  readonly begin: ((place: LinePlace, extend: boolean) => void) | undefined;
  readonly setFocused: (place: string) => void;
  readonly colour: Colour;
};

const LOOKS = { same: "", added: "bg-good-soft", removed: "bg-bad-soft", note: "text-muted italic" } as const;
const MEANT = "shadow-[inset_3px_0_0_var(--attention)]";
const SIGNS = { same: " ", added: "+", removed: "−", note: " " } as const;
/** In larger files no words are compared, so that scrolling stays smooth. */
const COLOURED_LINES = 20_000;

/** Memoised: scrolling renders the list many times a second. */
export const LineView = memo(function LineView({
  file,
  line,
  isStop,
  isMeant,
  ...acts
}: LineActs & {
  readonly file: FileDiff;
  readonly line: DiffLine;
  readonly isStop: boolean;
  /** The comment that is being written is about it. */
  readonly isMeant: boolean;
}): ReactNode {
  return (
    <div className={`flex ${LOOKS[line.kind]} ${isMeant ? MEANT : ""}`}>
      <Numbered line={line} place={placeOf(file, line)} isStop={isStop} {...acts} />
      <Text file={file} line={line} colour={acts.colour} />
    </div>
  );
});

/** The line before on the left, the line after on the right. */
export const PairView = memo(function PairView({
  file,
  pair: { left, right },
  stop,
  meant,
  ...acts
}: LineActs & {
  readonly file: FileDiff;
  readonly pair: Pair;
  readonly stop: string | null;
  /** The side that the comment is about that is being written. */
  readonly meant: "old" | "new" | null;
}): ReactNode {
  const side = (line: DiffLine | null, which: "old" | "new"): ReactNode => {
    if (line === null) return <div className="bg-sunken" />;
    // An unchanged line takes comments on the right only, because it is one line.
    const place = which === "old" && line.kind !== "removed" ? null : placeOf(file, line);
    const isStop = place !== null && placeKey(place) === stop;
    return (
      <div className={`flex min-w-0 ${LOOKS[line.kind]} ${place !== null && meant === place.side ? MEANT : ""}`}>
        <Numbered line={line} which={which} place={place} isStop={isStop} {...acts} />
        <Text file={file} line={line} colour={acts.colour} isRepeated={which === "old" && line === right} />
      </div>
    );
  };
  return (
    <div className="grid grid-cols-2 divide-x divide-line">
      {side(left, "old")}
      {side(right, "new")}
    </div>
  );
});

function Numbered({
  line,
  which = line.new === null ? "old" : "new",
  place,
  isStop,
  begin,
  setFocused,
}: LineActs & {
  readonly line: DiffLine;
  readonly which?: "old" | "new";
  readonly place: LinePlace | null;
  readonly isStop: boolean;
}): ReactNode {
  const number = line[which] ?? "";
  if (place === null || begin === undefined)
    return <span className="w-12 shrink-0 pr-2 text-right text-muted select-none">{number}</span>;
  return (
    <button
      type="button"
      data-place={placeKey(place)}
      tabIndex={isStop ? 0 : -1}
      onFocus={() => setFocused(placeKey(place))}
      aria-label={`Comment on ${place.side === "old" ? "removed " : ""}line ${place.line} of ${plain(place.file)}`}
      onClick={({ shiftKey }) => begin(place, shiftKey)}
      className="flex w-12 shrink-0 cursor-pointer items-start justify-end pr-2 text-muted select-none hover:bg-chosen hover:text-ink"
    >
      {number}
    </button>
  );
}

function Text({
  file,
  line,
  colour,
  isRepeated = false,
}: Pick<LineActs, "colour"> & {
  readonly file: FileDiff;
  readonly line: DiffLine;
  /** The other side shows the same line; screen readers read it once. */
  readonly isRepeated?: boolean;
}): ReactNode {
  const isPlain = line.kind === "note" || linesIn(file) > COLOURED_LINES;
  const tokens = isPlain ? undefined : colour(file, line);
  const words = isPlain ? [] : changedWords(file, line);
  const whole = [{ kind: "plain", text: line.text } as const];
  return (
    <>
      <span aria-hidden="true" className="w-4 shrink-0 select-none">
        {SIGNS[line.kind]}
      </span>
      {line.kind === "added" && <ins className="sr-only">added</ins>}
      {line.kind === "removed" && <del className="sr-only">removed</del>}
      <code
        {...(isRepeated ? { "aria-hidden": true } : {})}
        className="min-w-0 flex-1 pr-3 break-words whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {tokens === undefined && words.length === 0 ? (
          <SafeText max={4000}>{line.text}</SafeText>
        ) : (
          <Pieces pieces={piecesOf(tokens ?? whole, words)} change={line.kind} />
        )}
      </code>
    </>
  );
}

function Pieces({
  pieces,
  change,
}: {
  readonly pieces: readonly LinePiece[];
  readonly change: DiffLine["kind"];
}): ReactNode {
  return pieces.map(({ kind, text, isChanged }, at) => {
    const look = `${kind === "plain" ? "" : `code-${kind}`} ${isChanged ? `word-${change}` : ""}`.trim();
    // oxlint-disable-next-line react/no-array-index-key -- the pieces of one line have no names, and never change their order
    if (look === "") return <SafeText key={at}>{text}</SafeText>;
    return (
      // oxlint-disable-next-line react/no-array-index-key -- as above
      <span key={at} className={look}>
        <SafeText>{text}</SafeText>
      </span>
    );
  });
}
