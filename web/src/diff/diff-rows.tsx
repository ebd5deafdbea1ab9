// The rows of a diff that are in sight. The head of the file at the top stays there while its lines pass.

import { defaultRangeExtractor, type Range, type Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useState } from "react";
import { type RowActs, RowView } from "./row.tsx";
import type { Row } from "./rows.ts";
import { useColours } from "./use-colours.ts";
import { tabStop, walk } from "./walk.ts";

/** Keeps the head of the file at the top drawn, however far above it is. */
export function withHead(rows: readonly Row[], range: Range): number[] {
  const drawn = defaultRangeExtractor(range);
  const head = headAt(rows, range.startIndex);
  return head === -1 || drawn.includes(head) ? drawn : [head, ...drawn];
}

function headAt(rows: readonly Row[], at: number): number {
  for (let index = Math.min(at, rows.length - 1); index >= 0; index--) if (rows[index]?.type === "file") return index;
  return -1;
}

export function DiffRows({
  list,
  rows,
  virtual,
  acts,
}: {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly virtual: Virtualizer<Window, Element>;
  readonly acts: Omit<RowActs, "stop" | "setFocused" | "colour">;
}): ReactNode {
  const [focused, setFocused] = useState<string | null>(null);
  const colour = useColours();
  const drawn = virtual.getVirtualItems();
  const head = headAt(rows, virtual.range?.startIndex ?? 0);
  const stop = tabStop(
    drawn.map(({ index }) => rows[index]),
    focused,
  );
  return (
    <div
      ref={list}
      data-diff
      onKeyDown={walk}
      className="relative overflow-clip rounded-md border border-line bg-panel font-mono text-xs leading-[24px]"
      style={{ height: virtual.getTotalSize() }}
    >
      {drawn.map(({ index, key, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        const isHead = index === head;
        return (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            data-row={row.key}
            className={isHead ? "sticky top-0 z-10" : "absolute top-0 left-0 w-full"}
            {...(isHead ? {} : { style: { transform: `translateY(${start - virtual.options.scrollMargin}px)` } })}
          >
            <RowView row={row} {...acts} stop={stop} setFocused={setFocused} colour={colour} />
          </div>
        );
      })}
    </div>
  );
}
