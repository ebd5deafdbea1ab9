// One row for a loose end: unmerged work, a stopped run, a blocked ticket, a broken file, files that wait for trust, a
// program that is logged out.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago } from "../ui/time.tsx";
import { END_KINDS } from "./end-kinds.ts";
import type { Need } from "./needs.ts";
import { type RowProps, rowLook } from "./row.ts";
import { Icon } from "../ui/icon.tsx";

type Other = Exclude<Need, { is: "item" }>;

export function EndRow({ need, selected, isWide, onOpen }: RowProps & { readonly need: Other }): ReactNode {
  const { kind, title, text, about } = wordsOf(need);
  const { word, icon, tone } = END_KINDS[kind];
  const isShown = isWide && need.id === selected;
  return (
    <Link
      to="/"
      search={(before) => ({ ...before, item: need.id })}
      data-need={need.id}
      {...(isShown ? { "aria-current": "true" as const } : {})}
      className={rowLook(isShown)}
      onClick={() => onOpen(need.id)}
    >
      <span className="flex items-center gap-2 text-xs text-muted">
        <Badge tone={tone}>
          <Icon name={icon} />
          {word}
        </Badge>
        <span className="truncate">
          <SafeText max={80}>{about}</SafeText>
        </span>
        {need.since !== null && (
          <span className="ml-auto">
            <Ago at={need.since} />
          </span>
        )}
      </span>
      <span className="mt-1 line-clamp-2 text-sm font-medium [overflow-wrap:anywhere]">
        <SafeText max={200}>{title}</SafeText>
      </span>
      <span className="mt-0.5 line-clamp-2 text-xs text-muted [overflow-wrap:anywhere]">
        <SafeText max={300}>{text}</SafeText>
      </span>
    </Link>
  );
}

function wordsOf(need: Other): {
  readonly kind: keyof typeof END_KINDS;
  readonly title: string;
  readonly text: string;
  readonly about: string;
} {
  if (need.is === "login") {
    const { runner, evidence } = need.login;
    return { kind: "login", title: `${runner} is logged out`, text: evidence, about: runner };
  }
  const { kind, title, text, run, ticket } = need.end;
  return { kind, title, text, about: run === null ? (ticket ?? "") : `#${run.number}` };
}
