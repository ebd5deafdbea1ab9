// What waits, one row each: what is asked, about what, since when, at what cost, after which verdict. Many rows are drawn as they are scrolled to.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
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
const LongList = lazy(async () => ({ default: (await import("./long-list.tsx")).LongList }));

export function InboxList(props: InboxListProps): ReactNode {
  if (props.items.length <= ALL_AT_ONCE) return <ShortList {...props} />;
  return (
    <Suspense fallback={<ShortList {...props} items={props.items.slice(0, ALL_AT_ONCE)} />}>
      <LongList {...props} />
    </Suspense>
  );
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

export function InboxRow({
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
