// The list for more than a hundred entries: draws only the rows in view. The page loads it on demand.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { VirtualList } from "../ui/virtual-list.tsx";
import type { Need } from "./needs.ts";

type Props = {
  readonly needs: readonly Need[];
  readonly selected: string | undefined;
  readonly row: (need: Need) => ReactNode;
};

export function LongList({ needs, selected, row }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: needs.length,
    getScrollElement: () => box.current,
    estimateSize: () => 96,
    getItemKey: (at) => needs[at]?.id ?? at,
    overscan: 8,
  });
  const at = needs.findIndex(({ id }) => id === selected);
  useEffect(() => {
    if (at !== -1) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  return (
    <div ref={box} className="max-h-[70dvh] overflow-y-auto lg:max-h-[calc(100dvh-9rem)]">
      <VirtualList rows={needs} virtual={virtual} itemClass="pb-1">
        {row}
      </VirtualList>
    </div>
  );
}
