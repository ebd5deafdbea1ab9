// One lane: its word and its cards. A long lane draws only the cards in view.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type DragEvent, type ReactNode, useRef } from "react";
import type { MoveTicket } from "../ticket/move.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import type { BoardLane } from "./board-lanes.ts";
import { Card } from "./card.tsx";
import type { Drop } from "./drops.ts";
import type { WorkItem } from "./item.ts";

const ALL_DRAWN = 40;
const CARD_PX = 170;

type CardsProps = {
  readonly lane: BoardLane;
  readonly selected: string | undefined;
  readonly now: number;
  readonly onMove: MoveTicket;
  readonly drag: (item: WorkItem | null) => void;
};

type Props = CardsProps & {
  /** The only lane that a phone shows. */
  readonly isPicked: boolean;
  readonly isTall: boolean;
  /** Of its heading. */
  readonly level: 2 | 3;
  /** The effect of a drop of the dragged card; null while none is dragged. */
  readonly target: Drop | null;
  readonly drop: () => void;
};

export function Lane({ isPicked, isTall, level, target, drop, ...cards }: Props): ReactNode {
  const Heading = level === 2 ? "h2" : "h3";
  const { lane } = cards;
  const isEmpty = lane.items.length === 0;
  // A flow may have eighteen words; of six lanes each has room for its name. Lanes keep their width while a card is dragged over them.
  const isNarrow = isEmpty && lane.state === null;
  const width = isNarrow
    ? "md:w-10"
    : isEmpty
      ? "md:w-32"
      : `md:max-w-80 md:flex-1 ${lane.state === null ? "md:min-w-52" : "md:min-w-40"}`;
  return (
    <section
      aria-label={`${lane.word}, ${lane.items.length}`}
      onDragOver={(event: DragEvent) => {
        if (target?.is === "legal") event.preventDefault();
      }}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        drop();
      }}
      className={`flex shrink-0 flex-col rounded-lg bg-sunken ${isTall ? "md:max-h-[calc(100dvh-12rem)]" : "md:max-h-[60dvh]"} ${width} max-md:w-full ${isPicked ? "" : "max-md:hidden"} ${target?.is === "legal" ? "outline-2 outline-active outline-dashed" : ""}`}
    >
      <Heading
        className={`flex items-baseline justify-between gap-2 px-3 py-2 text-sm ${isNarrow ? "font-normal text-muted md:items-center md:justify-start md:px-3 md:py-0 md:[writing-mode:vertical-rl] md:self-center" : "font-semibold"}`}
      >
        <span className="min-w-0 truncate">
          <SafeText max={80}>{lane.word}</SafeText>
        </span>
        <span className="tabular font-normal text-muted">{lane.items.length}</span>
      </Heading>
      {target !== null && !isNarrow && <Target target={target} />}
      {isEmpty ? (
        <p className="px-3 pb-3 text-xs text-muted md:sr-only">Nothing here.</p>
      ) : lane.items.length <= ALL_DRAWN ? (
        <ul className="flex flex-col gap-2 overflow-y-auto px-2 pt-px pb-2">
          {lane.items.map((item) => (
            <li key={item.id}>
              <OneCard {...cards} item={item} />
            </li>
          ))}
        </ul>
      ) : (
        <LongLane {...cards} />
      )}
    </section>
  );
}

/** While a card is over the board. */
function Target({ target }: { readonly target: Drop }): ReactNode {
  if (target.is === "same") return null;
  return (
    <p className={`px-3 pb-2 text-xs ${target.is === "legal" ? "font-medium text-active" : "text-muted"}`}>
      <SafeText max={200}>{target.is === "legal" ? target.does : target.why}</SafeText>
    </p>
  );
}

function OneCard({ lane, selected, item, ...rest }: CardsProps & { readonly item: WorkItem }): ReactNode {
  return <Card item={item} isSelected={item.id === selected} hasWord={lane.state !== null} {...rest} />;
}

function LongLane(props: CardsProps): ReactNode {
  const { lane } = props;
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lane.items.length,
    getScrollElement: () => box.current,
    estimateSize: () => CARD_PX,
    getItemKey: (index) => lane.items[index]?.id ?? index,
    overscan: 4,
  });
  return (
    <div ref={box} className="overflow-y-auto px-2 pb-2 max-md:h-[70dvh]">
      <VirtualList rows={lane.items} virtual={rows} itemClass="pb-2">
        {(item) => <OneCard {...props} item={item} />}
      </VirtualList>
    </div>
  );
}
