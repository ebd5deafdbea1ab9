// One row of the inbox: the question, the subject, how long it has waited, the cost, and the last verdict.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LANDING_WORDS } from "../../../src/core/view/landing.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago, usd } from "../ui/time.tsx";
import type { WaitingItem } from "./types.ts";
import { approvalOf, KINDS, questionOf } from "./words.ts";

export type InboxListProps = {
  readonly items: readonly WaitingItem[];
  /** The one that is shown beside the list; on a phone none is. */
  readonly selected: string | undefined;
  readonly isWide: boolean;
  readonly onOpen: (id: string) => void;
};

export function InboxRow({
  item,
  selected,
  isWide,
  onOpen,
}: Omit<InboxListProps, "items"> & { readonly item: WaitingItem }): ReactNode {
  const { word, sign, tone } = KINDS[item.kind];
  const approval = approvalOf(item);
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
        {approval !== null && <span>{LANDING_WORDS[approval.way]}</span>}
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
