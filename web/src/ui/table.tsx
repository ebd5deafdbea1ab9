// Tables that become cards on narrow screens. The roles are explicit, because browsers drop them when CSS changes the layout of a table.

import type { ReactNode } from "react";

export function Table({
  label,
  head,
  children,
}: {
  readonly label: string;
  readonly head: readonly string[];
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div role="table" aria-label={label} className="w-full text-sm md:table">
      <div role="rowgroup" className="hidden md:table-header-group">
        <div role="row" className="md:table-row">
          {head.map((name) => (
            <span
              key={name}
              role="columnheader"
              className="px-2 pb-2 text-left text-xs font-medium text-muted first:pl-0 md:table-cell"
            >
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="md:table-row-group">
        {children}
      </div>
    </div>
  );
}

export function Row({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div
      role="row"
      className="max-md:flex max-md:flex-col max-md:gap-1 max-md:border-t max-md:border-line max-md:py-3 max-md:first:border-t-0 md:table-row"
    >
      {children}
    </div>
  );
}

/** `of` is the name of the column; a card shows it next to the value. */
export function Cell({
  of,
  number = false,
  head = false,
  empty = false,
  children,
}: {
  readonly of: string;
  readonly number?: boolean;
  /** The subject of the row: the heading of its card. */
  readonly head?: boolean;
  /** Without a value: a card leaves it out. */
  readonly empty?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div
      role="cell"
      className={`min-w-0 border-line px-2 py-2 align-top first:pl-0 max-md:justify-between max-md:gap-4 max-md:px-0 max-md:py-0.5 md:table-cell md:border-t ${number ? "tabular whitespace-nowrap" : ""} ${empty ? "max-md:hidden" : "max-md:flex"}`}
    >
      {!head && (
        <span aria-hidden="true" className="shrink-0 text-xs text-muted md:hidden">
          {of}
        </span>
      )}
      <span
        // A long word breaks in the column that names the row: the others are as wide as their own words.
        className={`min-w-0 md:block ${head ? "[overflow-wrap:anywhere] md:min-w-32" : "max-md:text-right max-md:[overflow-wrap:anywhere]"}`}
      >
        {children}
      </span>
    </div>
  );
}
