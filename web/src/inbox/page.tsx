// The home page: the items that wait for a person, oldest first, and next to them the decision of one. On a phone each item has a separate
// page.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { isTyping, useShortcuts } from "../base/keyboard.ts";
import { inboxQuery } from "../base/queries.ts";
import { Decision } from "./decision.tsx";
import { DoneToday } from "./done-today.tsx";
import { InboxList } from "./inbox-list.tsx";
import { LooseEnds } from "./loose-ends.tsx";
import { OneItem } from "./one-item.tsx";
import { Quiet } from "./quiet.tsx";
import { TrustLine } from "./trust-line.tsx";
import type { ShownLooseEnd, WaitingItem } from "./types.ts";
import { PageHead } from "../ui/panel.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { useMedia, WIDE } from "../ui/use-media.ts";

export function InboxPage(): ReactNode {
  const { data, error, isPending, refetch } = useQuery(inboxQuery);
  if (isPending) return <Loading what="the inbox" />;
  if (data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  return <Inbox items={data.items} ends={data.looseEnds} unseen={data.unseen} />;
}

type InboxProps = {
  readonly items: readonly WaitingItem[];
  readonly ends: readonly ShownLooseEnd[];
  /** Older completed runs that the daemon has not looked at yet. */
  readonly unseen: number;
};

function Inbox({ items, ends, unseen }: InboxProps): ReactNode {
  const navigate = useNavigate();
  const isWide = useMedia(WIDE);
  const { item: wanted } = useSearch({ from: "/" });
  const selected = wanted ?? items[0]?.id;
  const shown = items.find(({ id }) => id === selected);
  /** The item whose heading gets the focus once it is drawn. */
  const [wantsFocus, setWantsFocus] = useState<string | null>(null);
  useInboxShortcuts(items, selected, isWide);

  useEffect(() => {
    if (wantsFocus === null || shown?.id !== wantsFocus) return;
    setWantsFocus(null);
    document.querySelector<HTMLElement>("#decision-head")?.focus();
  }, [wantsFocus, shown]);

  const showNext = (): void => {
    const at = items.findIndex(({ id }) => id === selected);
    const next = items[at + 1] ?? items.find(({ id }) => id !== selected);
    setWantsFocus(next?.id ?? null);
    void navigate({ to: "/", search: next === undefined ? {} : { item: next.id }, replace: true });
    scrollTo({ top: 0 });
  };

  const isBeside = isWide && selected !== undefined;
  return (
    <>
      <PageHead title="Inbox" />
      <TrustLine />
      <div className={isBeside ? "grid grid-cols-[minmax(17rem,22rem)_minmax(0,1fr)] items-start gap-6" : ""}>
        <div
          className={
            isBeside
              ? "sticky top-6 flex max-h-[calc(100dvh-3rem)] flex-col gap-3 overflow-y-auto p-0.5"
              : "flex flex-col gap-3"
          }
        >
          {items.length + ends.length + unseen === 0 && <Quiet />}
          {items.length > 0 && (
            <section aria-labelledby="needs-you">
              <h2 id="needs-you" className="mb-1.5 text-xs font-semibold text-muted">
                Needs you now ({items.length})
              </h2>
              <InboxList items={items} selected={selected} isWide={isWide} onOpen={setWantsFocus} />
            </section>
          )}
          <LooseEnds ends={ends} />
          {unseen > 0 && (
            <p role="status" className="text-xs text-muted">
              Looking through {unseen.toLocaleString()} older finished {unseen === 1 ? "run" : "runs"} for work that has
              not landed…{" "}
              <Link to="/runs" search={{ status: "completed" }} className="underline">
                All finished runs
              </Link>
            </p>
          )}
          <DoneToday />
        </div>
        {isBeside && (
          <section aria-label="Decision" className="min-w-0">
            {shown === undefined ? (
              <OneItem id={selected} onDecided={showNext} />
            ) : (
              <Decision key={shown.id} item={shown} onDecided={showNext} />
            )}
          </section>
        )}
      </div>
    </>
  );
}

/** j and k: the next and the previous item. */
function useInboxShortcuts(items: readonly WaitingItem[], selected: string | undefined, isWide: boolean): void {
  const navigate = useNavigate();
  const latest = useRef({ items, selected });
  useEffect(() => {
    latest.current = { items, selected };
  });

  const shortcuts = useMemo(() => {
    const move = (by: 1 | -1): void => {
      const { items: list, selected: now } = latest.current;
      const at = list.findIndex(({ id }) => id === now);
      const next = list[Math.min(Math.max(at + by, 0), list.length - 1)];
      if (next === undefined) return;
      if (isWide) void navigate({ to: "/", search: { item: next.id }, replace: true });
      // The row may not be drawn yet. Whoever writes an answer by then keeps the focus.
      requestAnimationFrame(() => {
        if (isTyping(document.activeElement)) return;
        document.querySelector<HTMLElement>(`[data-item="${CSS.escape(next.id)}"]`)?.focus();
      });
    };
    return [
      { keys: "j", does: "Next item", group: "Inbox", act: () => move(1) },
      { keys: "k", does: "Previous item", group: "Inbox", act: () => move(-1) },
    ];
  }, [isWide, navigate]);
  useShortcuts(shortcuts);
}
