// One lane: a status word and its tickets. A long lane draws only the cards in view.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { Card, type CardProps } from "./card.tsx";
import type { BoardLane } from "./lanes.ts";

const ALL_DRAWN = 40;
const CARD_PX = 170;

type Props = Pick<CardProps, "now" | "onMove"> & {
  readonly lane: BoardLane;
  readonly selected: string | undefined;
  /** The only lane that a phone shows. */
  readonly isPicked: boolean;
};

export function Lane({ lane, selected, isPicked, now, onMove }: Props): ReactNode {
  const isEmpty = lane.tickets.length === 0;
  return (
    <section
      aria-label={`${lane.word}, ${lane.tickets.length}`}
      className={`flex shrink-0 flex-col rounded-lg bg-sunken md:max-h-[calc(100dvh-9rem)] ${isEmpty ? "md:w-10" : "md:max-w-80 md:min-w-56 md:flex-1"} max-md:w-full ${isPicked ? "" : "max-md:hidden"}`}
    >
      <h2
        className={`flex items-baseline justify-between gap-2 px-3 py-2 text-sm ${isEmpty ? "font-normal text-muted md:items-center md:justify-start md:px-3 md:py-0 md:[writing-mode:vertical-rl] md:self-center" : "font-semibold"}`}
      >
        <span className="min-w-0 truncate">
          <SafeText max={80}>{lane.word}</SafeText>
        </span>
        <span className="tabular font-normal text-muted">{lane.tickets.length}</span>
      </h2>
      {isEmpty ? (
        <p className="px-3 pb-3 text-xs text-muted md:sr-only">No tickets here.</p>
      ) : lane.tickets.length <= ALL_DRAWN ? (
        <ul className="flex flex-col gap-2 overflow-y-auto px-2 pt-px pb-2">
          {lane.tickets.map((ticket) => (
            <li key={ticket.id}>
              <Card ticket={ticket} isSelected={ticket.id === selected} now={now} onMove={onMove} />
            </li>
          ))}
        </ul>
      ) : (
        <LongLane lane={lane} selected={selected} now={now} onMove={onMove} />
      )}
    </section>
  );
}

function LongLane({ lane, selected, now, onMove }: Omit<Props, "isPicked">): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lane.tickets.length,
    getScrollElement: () => box.current,
    estimateSize: () => CARD_PX,
    getItemKey: (index) => lane.tickets[index]?.id ?? index,
    overscan: 4,
  });
  return (
    <div ref={box} className="overflow-y-auto px-2 pb-2 max-md:h-[70dvh]">
      <VirtualList rows={lane.tickets} virtual={rows} itemClass="pb-2">
        {(ticket) => <Card ticket={ticket} isSelected={ticket.id === selected} now={now} onMove={onMove} />}
      </VirtualList>
    </div>
  );
}
