// What waits, one row each: what is asked, about what, since when, at what cost, after which verdict. Many rows are drawn as they are scrolled to.

import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago, usd } from "../ui/time.tsx";
import type { Item } from "./types.ts";
import { KINDS, questionOf } from "./words.ts";

export type InboxListProps = {
  readonly items: readonly Item[];
  /** The one that is shown beside the list; on a phone none is. */
  readonly selected: string | undefined;
  readonly isWide: boolean;
  readonly onOpen: (id: string) => void;
};

const ALL_AT_ONCE = 100;

export function InboxList(props: InboxListProps): ReactNode {
  return props.items.length > ALL_AT_ONCE ? <LongList {...props} /> : <ShortList {...props} />;
}

function ShortList({ items, ...rest }: InboxListProps): ReactNode {
  return (
    <ul className="flex flex-col gap-1">
      {items.map((item) => (
        <li key={item.id}>
          <InboxRow item={item} {...rest} />
        </li>
      ))}
    </ul>
  );
}

function LongList({ items, selected, ...rest }: InboxListProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => 96,
    getItemKey: (at) => items[at]?.id ?? at,
    overscan: 8,
  });
  const at = items.findIndex(({ id }) => id === selected);
  useEffect(() => {
    if (at !== -1) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  return (
    <div ref={box} className="max-h-[70dvh] overflow-y-auto lg:max-h-[calc(100dvh-9rem)]">
      <ul className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              className="absolute top-0 left-0 w-full pb-1"
              style={{ transform: `translateY(${start}px)` }}
            >
              <InboxRow item={item} selected={selected} {...rest} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function InboxRow({
  item,
  selected,
  isWide,
  onOpen,
}: Omit<InboxListProps, "items"> & { readonly item: Item }): ReactNode {
  const { word, sign, tone } = KINDS[item.kind];
  const isShown = isWide && item.id === selected;
  const look = `block rounded-md border px-3 py-2 text-ink no-underline pointer-coarse:min-h-11 ${isShown ? "border-active bg-active-soft" : "border-line bg-panel hover:bg-sunken"}`;
  const content = (
    <>
      <span className="flex items-center gap-2 text-xs text-muted">
        <Badge tone={tone}>
          <span aria-hidden="true">{sign}</span>
          {word}
        </Badge>
        <span>#{item.runNumber}</span>
        <span className="truncate">{item.flow}</span>
        <span className="ml-auto">
          <Ago at={item.openedAt} />
        </span>
      </span>
      <span className="mt-1 line-clamp-2 text-sm font-medium [overflow-wrap:anywhere]">
        <SafeText max={400}>{questionOf(item)}</SafeText>
      </span>
      <span className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-muted">
        {item.kind !== "gate" && (
          <span className="max-w-full truncate">
            <SafeText max={200}>{item.subject.title}</SafeText>
          </span>
        )}
        {item.said !== null && (
          <span>
            {item.said.stage}: {item.said.word}
          </span>
        )}
        <span>Cost {usd(item.spent.usd)}</span>
      </span>
    </>
  );
  return isWide ? (
    <Link
      to="/"
      search={{ item: item.id }}
      data-item={item.id}
      {...(isShown ? { "aria-current": "true" as const } : {})}
      className={look}
      onClick={() => onOpen(item.id)}
    >
      {content}
    </Link>
  ) : (
    <Link to="/g/$item" params={{ item: item.id }} data-item={item.id} className={look}>
      {content}
    </Link>
  );
}
