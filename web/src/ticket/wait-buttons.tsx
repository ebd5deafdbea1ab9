// Buttons for everything a ticket waits for.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { choicesOf } from "../inbox/words.ts";
import { SafeText } from "../ui/safe-text.tsx";
import type { ListedTicket } from "./listed-ticket.ts";
import type { MoveTicket } from "./move.ts";

/** One button per answer. A question needs a text, so its button opens the question's page. */
export function WaitButtons({
  ticket,
  onMove,
}: {
  readonly ticket: ListedTicket;
  readonly onMove: MoveTicket;
}): ReactNode {
  if (ticket.waits.length === 0) return null;
  return (
    <div className="relative z-10 flex flex-wrap gap-1.5">
      {ticket.waits.map((item) =>
        item.answers.length === 0 ? (
          <Link key={item.id} to="/g/$item" params={{ item: item.id }} className={`${SMALL} ${FIRST}`}>
            Answer
          </Link>
        ) : (
          choicesOf({ ...item, leads: [] }).map((choice) => (
            <button
              key={`${item.id} ${choice.answer}`}
              type="button"
              onClick={() => onMove(ticket, { kind: "answer", item: item.id, choice })}
              className={`${SMALL} ${choice.look === "primary" ? FIRST : OTHER}`}
            >
              <SafeText max={60}>{choice.label}</SafeText>
            </button>
          ))
        ),
      )}
    </div>
  );
}

const SMALL =
  "inline-flex min-h-7 cursor-pointer items-center rounded-md border bg-panel px-2 text-xs font-medium no-underline hover:bg-sunken pointer-coarse:min-h-11 pointer-coarse:px-3";
const FIRST = "border-ink";
const OTHER = "border-line text-ink";
