// The page of one item, made for phones: notifications link to it. Opening it decides nothing.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { inboxQuery } from "../base/queries.ts";
import { OneItem } from "./one-item.tsx";

export function GatePage(): ReactNode {
  const { item } = useParams({ from: "/g/$item" });
  const navigate = useNavigate();
  const waiting = useQuery(inboxQuery).data?.items ?? [];
  const showNext = (): void => {
    const next = waiting.find(({ id }) => id !== item);
    scrollTo({ top: 0 });
    if (next === undefined) void navigate({ to: "/" });
    else void navigate({ to: "/g/$item", params: { item: next.id } });
  };
  const others = waiting.filter(({ id }) => id !== item).length;
  return (
    <div className="mx-auto flex max-w-[100rem] flex-col gap-3">
      <h1 className="sr-only">Decide</h1>
      <p>
        <Link to="/" className="inline-flex min-h-9 items-center gap-1 text-sm pointer-coarse:min-h-11">
          <span aria-hidden="true">‹</span> Now{others > 0 && ` (${others} more)`}
        </Link>
      </p>
      <OneItem key={item} id={item} onDecided={showNext} />
    </div>
  );
}
