import type { ReactNode } from "react";
import type { MoveTicket } from "../ticket/move.ts";
import type { BoardLane } from "./board-lanes.ts";
import { dropOf } from "./drops.ts";
import type { WorkItem } from "./item.ts";
import { Lane } from "./lane.tsx";

type Props = {
  readonly lanes: readonly BoardLane[];
  /** The only row: its lanes may fill the screen. */
  readonly isTall: boolean;
  /** Of the headings of its lanes. */
  readonly level: 2 | 3;
  readonly selected: string | undefined;
  /** The only lane that a phone shows. */
  readonly picked: string | undefined;
  readonly now: number;
  readonly onMove: MoveTicket;
  readonly dragged: WorkItem | null;
  readonly drag: (item: WorkItem | null) => void;
  readonly drop: (lane: BoardLane) => void;
};

/** The lanes side by side. While a card is dragged, each says what a drop would do there, or why it is not possible. */
export function BoardRow({ lanes, picked, dragged, drop, ...rest }: Props): ReactNode {
  return (
    <div
      role="group"
      aria-label="Lanes"
      tabIndex={-1}
      className="relative flex items-start gap-2 md:overflow-x-auto md:pb-2"
    >
      {lanes.map((lane) => (
        <Lane
          key={lane.key}
          lane={lane}
          isPicked={lane.key === picked}
          target={dragged === null ? null : dropOf(dragged, lane)}
          drop={() => drop(lane)}
          {...rest}
        />
      ))}
    </div>
  );
}
