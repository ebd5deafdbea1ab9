// A list that draws only the rows in view. The caller chooses the scrolling element: the page, or a box around the list.

import type { Virtualizer } from "@tanstack/react-virtual";
import type { ReactNode, RefObject } from "react";
import { optional } from "../../../src/core/optional.ts";

export function VirtualList<Row, Box extends Element | Window>({
  list,
  rows,
  virtual,
  label,
  className = "",
  itemClass = "",
  children,
}: {
  readonly list?: RefObject<HTMLOListElement | null>;
  readonly rows: readonly Row[];
  readonly virtual: Virtualizer<Box, Element>;
  readonly label?: string;
  readonly className?: string;
  readonly itemClass?: string;
  readonly children: (row: Row) => ReactNode;
}): ReactNode {
  return (
    <ol
      {...optional({ ref: list })}
      {...optional({ "aria-label": label })}
      className={`relative ${className}`}
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        return row === undefined ? null : (
          <li
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            className={`absolute inset-x-0 top-0 ${itemClass}`}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            {children(row)}
          </li>
        );
      })}
    </ol>
  );
}
