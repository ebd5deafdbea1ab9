// The inbox list for more than a hundred items: draws only the rows in view. The page loads it on demand.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { VirtualList } from "../ui/virtual-list.tsx";
import { InboxRow, type InboxListProps } from "./inbox-row.tsx";

export function LongList({ items, selected, ...rest }: InboxListProps): ReactNode {
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
      <VirtualList rows={items} virtual={virtual} itemClass="pb-1">
        {(item) => <InboxRow item={item} selected={selected} {...rest} />}
      </VirtualList>
    </div>
  );
}
