// A long table: columns that sort, rows that can be selected, groups with their own heading. Only the rows in view are drawn. A narrow
// screen shows each row as a card.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronUp } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import type { Selection } from "./use-selection.ts";
import { useMedia } from "./use-media.ts";
import { useTop } from "./use-top.ts";

export type DataColumn<Row> = {
  readonly key: string;
  readonly name: string;
  /** As in grid-template-columns. */
  readonly width: string;
  readonly isEnd?: boolean;
  readonly cell: (row: Row) => ReactNode;
};

export type ColumnSort = { readonly isDown: boolean } | null;

export type TableEntry<Row> =
  | { readonly is: "row"; readonly key: string; readonly row: Row }
  | { readonly is: "group"; readonly key: string; readonly name: ReactNode; readonly count: number };

type Props<Row> = {
  readonly label: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly entries: readonly TableEntry<Row>[];
  /** The whole row on a narrow screen. */
  readonly card: (row: Row) => ReactNode;
  /** The name of the row for its checkbox. */
  readonly nameOf: (row: Row) => string;
  readonly selection: Selection;
  /** Undefined if the column does not sort; null if it could. */
  readonly sortOf: (column: string) => ColumnSort | undefined;
  readonly onSort: (column: string) => void;
  /** Called when the last rows come into view. */
  readonly nearEnd?: () => void;
};

const WIDE = "(min-width: 80rem)";
const ROW_PX = 53;
const CARD_PX = 132;
const GROUP_PX = 37;

export function DataTable<Row>(props: Props<Row>): ReactNode {
  const { label, columns, entries, selection, nearEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const isWide = useMedia(WIDE);
  const top = useTop(box);
  const virtual = useWindowVirtualizer({
    count: entries.length,
    estimateSize: (index) => (entries[index]?.is === "group" ? GROUP_PX : isWide ? ROW_PX : CARD_PX),
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => entries[index]?.key ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (entries.length > 0 && last >= entries.length - 15) nearEnd?.();
  }, [last, entries.length, nearEnd]);
  const grid = { gridTemplateColumns: ["1.75rem", ...columns.map(({ width }) => width)].join(" ") };
  return (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={entries.length + 1}
      className="rounded-lg border border-line bg-panel text-sm"
    >
      <Head {...props} isWide={isWide} grid={grid} />
      <div ref={box} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return (
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              ref={virtual.measureElement}
              className={`absolute inset-x-0 top-0 border-b border-line/60 px-4 ${LOOKS[entry.is === "group" ? "group" : isWide ? "wide" : "narrow"]} ${entry.is === "row" && selection.has(entry.key) ? "bg-chosen" : ""}`}
              style={{
                ...(entry.is === "row" && isWide ? grid : {}),
                transform: `translateY(${start - virtual.options.scrollMargin}px)`,
              }}
            >
              {entry.is === "group" ? (
                <GroupHead entry={entry} columns={columns.length + 1} />
              ) : (
                <Cells {...props} entry={entry} isWide={isWide} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const LOOKS = {
  group: "flex items-baseline gap-2 bg-sunken py-2",
  wide: "grid items-center gap-x-3 py-1.5 hover:bg-sunken",
  narrow: "flex items-start gap-2 py-2 hover:bg-sunken",
} as const;

type HeadProps<Row> = Props<Row> & { readonly isWide: boolean; readonly grid: object };

function Head<Row>({ columns, selection, sortOf, onSort, isWide, grid }: HeadProps<Row>): ReactNode {
  const shown = isWide ? columns : columns.slice(0, 1);
  return (
    <div role="rowgroup" className={isWide ? "sticky top-0 z-20 rounded-t-lg bg-panel" : ""}>
      <div
        role="row"
        aria-rowindex={1}
        className={`border-b border-line px-4 text-xs text-muted ${isWide ? "grid items-center gap-x-3 py-1" : "flex items-center gap-2"}`}
        {...(isWide ? { style: grid } : {})}
      >
        <span role="columnheader" className="flex">
          <Tick
            label="Select all that are shown"
            isOn={selection.all === "all"}
            isSome={selection.all === "some"}
            toggle={selection.toggleAll}
          />
        </span>
        {shown.map(({ key, name, isEnd }) => {
          const sort = isWide ? sortOf(key) : undefined;
          return (
            <span
              key={key}
              role="columnheader"
              {...(sort === undefined || sort === null
                ? {}
                : { "aria-sort": sort.isDown ? ("descending" as const) : ("ascending" as const) })}
              className={`flex min-w-0 ${isEnd === true ? "justify-end" : ""}`}
            >
              {sort === undefined ? (
                <span>{isWide ? name : "Select all"}</span>
              ) : (
                <button
                  type="button"
                  onClick={() => onSort(key)}
                  className={`inline-flex min-h-7 cursor-pointer items-center gap-1 rounded hover:text-ink ${sort === null ? "" : "font-semibold text-ink"}`}
                >
                  {name}
                  {sort !== null && (sort.isDown ? <ChevronDown className={ARROW} /> : <ChevronUp className={ARROW} />)}
                </button>
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
}

const ARROW = "size-3.5 shrink-0";

type RowEntry<Row> = Extract<TableEntry<Row>, { is: "row" }>;

function Cells<Row>({
  entry: { key, row },
  columns,
  card,
  nameOf,
  selection,
  isWide,
}: Props<Row> & { readonly entry: RowEntry<Row>; readonly isWide: boolean }): ReactNode {
  return (
    <>
      <div role="cell" className="flex">
        <Tick
          label={`Select ${nameOf(row)}`}
          isOn={selection.has(key)}
          toggle={(isRange) => selection.toggle(key, isRange)}
        />
      </div>
      {isWide ? (
        columns.map((column) => (
          <div
            key={column.key}
            role="cell"
            className={`min-w-0 truncate ${column.isEnd === true ? "tabular text-right" : ""}`}
          >
            {column.cell(row)}
          </div>
        ))
      ) : (
        <div role="cell" className="min-w-0 flex-1">
          {card(row)}
        </div>
      )}
    </>
  );
}

function GroupHead<Row>({
  entry: { name, count },
  columns,
}: {
  readonly entry: Extract<TableEntry<Row>, { is: "group" }>;
  readonly columns: number;
}): ReactNode {
  return (
    <div role="cell" aria-colspan={columns} className="flex min-w-0 items-baseline gap-2 text-sm font-semibold">
      <span className="min-w-0 truncate">{name}</span>
      <span className="tabular font-normal text-muted">{count}</span>
    </div>
  );
}

/** A checkbox with a target that a thumb can hit. */
function Tick({
  label,
  isOn,
  isSome = false,
  toggle,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly isSome?: boolean;
  /** `isRange`: from the last one to this. */
  readonly toggle: (isRange: boolean) => void;
}): ReactNode {
  return (
    <label className="-ml-2 inline-flex min-h-8 min-w-8 cursor-pointer items-center justify-center pointer-coarse:min-h-11 pointer-coarse:min-w-11">
      <input
        type="checkbox"
        aria-label={label}
        ref={(element) => {
          if (element !== null) element.indeterminate = isSome;
        }}
        checked={isOn}
        onChange={({ nativeEvent }) => toggle(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
        className="size-4 accent-active pointer-coarse:size-5"
      />
    </label>
  );
}
