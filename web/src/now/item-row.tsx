// One row for an item of a stage: the question, the subject, how long it has waited, the cost, and the last verdict.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LANDING_WORDS } from "../../../src/core/view/landing.ts";
import type { WaitingItem } from "../inbox/types.ts";
import { approvalOf, KINDS, questionOf } from "../inbox/words.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago, usd } from "../ui/time.tsx";
import { type RowProps, rowLook } from "./row.ts";
import { Icon } from "../ui/icon.tsx";

export function ItemRow({ item, selected, isWide, onOpen }: RowProps & { readonly item: WaitingItem }): ReactNode {
  const { word, icon, tone } = KINDS[item.kind];
  const approval = approvalOf(item);
  const isShown = isWide && item.id === selected;
  const content = (
    <>
      <span className="flex items-center gap-2 text-xs text-muted">
        <Badge tone={tone}>
          <Icon name={icon} />
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
        {item.spent.usd !== null && <span className="tabular">{usd(item.spent.usd)}</span>}
        {approval !== null && <span>{LANDING_WORDS[approval.way]}</span>}
      </span>
    </>
  );
  return isWide ? (
    <Link
      to="/"
      search={(before) => ({ ...before, item: item.id })}
      data-need={item.id}
      {...(isShown ? { "aria-current": "true" as const } : {})}
      className={rowLook(isShown)}
      onClick={() => onOpen(item.id)}
    >
      {content}
    </Link>
  ) : (
    <Link to="/g/$item" params={{ item: item.id }} data-need={item.id} className={rowLook(false)}>
      {content}
    </Link>
  );
}
