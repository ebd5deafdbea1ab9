// The activity of an agent while it works. The view draws only the entries in sight, follows the end while the agent works, and reads earlier
// parts when a person scrolls up.

import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUpToLine } from "lucide-react";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { type ActivityItem, activityOf } from "../../../../src/core/view/activity.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { usd } from "../../ui/time.tsx";
import { Entry } from "./entry.tsx";
import { type ActivityState, type ActivityWindow, type AttemptReference, openActivity } from "./source.ts";

const ROW = 44;
const NEAR_END = 60;
/** So close to the beginning of what is loaded, the part before it is read. */
const NEAR_START = 600;

export function ActivityView({
  reference,
  isWorking,
  wanted,
  tools,
  end,
}: {
  readonly reference: AttemptReference;
  readonly isWorking: boolean;
  /** The event that the address names. */
  readonly wanted: number | null;
  readonly tools: ReactNode;
  /** Shown below the last entry. */
  readonly end: ReactNode;
}): ReactNode {
  const { run, stage, attempt } = reference;
  const source = useMemo(() => openActivity({ run, stage, attempt }, wanted ?? "end"), [run, stage, attempt, wanted]);
  useEffect(() => () => source.close(), [source]);
  useEffect(() => source.setWorking(isWorking), [source, isWorking]);
  const state = useSyncExternalStore(source.watch, source.state);
  const items = useMemo(
    () => activityOf(state.events, { isOver: !isWorking && state.isEnd }),
    [state.events, state.isEnd, isWorking],
  );
  const isEmpty = state.isLoaded && state.isEnd && items.length === 0;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {tools}
      {isWorking && <UsedSoFar events={state.events} />}
      {state.error !== null && <Failure error={state.error} retry={() => void source.newer()} />}
      {!state.isLoaded && state.error === null && <Loading what="activity" />}
      {isEmpty && <Empty title={isWorking ? "The agent has not said anything yet." : "The agent left no record."} />}
      <Entries
        label={`Activity of ${stage} #${attempt}`}
        source={source}
        state={state}
        items={items}
        isWorking={isWorking}
        isWanted={wanted !== null}
        end={end}
      />
    </div>
  );
}

/** The usage of the attempt so far, as its program reports it. */
function UsedSoFar({ events }: { readonly events: ActivityState["events"] }): ReactNode {
  const used = events.findLast((event) => event.type === "usage");
  if (used?.type !== "usage" || (used.tokens === null && used.usd === null)) return null;
  const parts = [
    ...(used.tokens === null ? [] : [`${used.tokens.toLocaleString("en-US")} tokens`]),
    ...(used.usd === null ? [] : [usd(used.usd)]),
  ];
  return <p className="text-xs text-muted tabular">{parts.join(" · ")} so far</p>;
}

type EntriesProps = {
  readonly label: string;
  readonly source: ActivityWindow;
  readonly state: ActivityState;
  readonly items: readonly ActivityItem[];
  readonly isWorking: boolean;
  readonly isWanted: boolean;
  readonly end: ReactNode;
};

function Entries({ label, source, state, items, isWorking, isWanted, end }: EntriesProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => items[index]?.place ?? index,
    overscan: 8,
  });
  const { isOpen, toggle } = useOpened();
  const { follows, setFollows, onScroll } = useFollow(rows, scroller, { source, state, items, isWanted });
  return (
    <div className={`relative ${state.isLoaded && items.length === 0 && end === null ? "hidden" : ""}`}>
      <div
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
        tabIndex={0}
        onScroll={onScroll}
        className="max-h-[calc(100dvh-15rem)] min-h-40 overflow-x-hidden overflow-y-auto rounded-md border border-line bg-page px-3 py-2 max-sm:max-h-[70dvh]"
      >
        {state.from > 0 && (
          <div className="flex justify-center pb-1">
            <Button look="bare" onClick={() => void source.open(0)}>
              <ArrowUpToLine className="size-4" /> From the beginning
            </Button>
          </div>
        )}
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index];
            return item === undefined ? null : (
              <div
                key={key}
                data-index={index}
                ref={rows.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Entry item={item} isOpen={isOpen} toggle={toggle} />
              </div>
            );
          })}
        </div>
        {state.isEnd && end}
      </div>
      {!follows && (isWorking || !state.isEnd) && items.length > 0 && (
        <div className="absolute inset-x-0 bottom-3 flex justify-center">
          <Button look="primary" onClick={() => void toEnd(source, state).then(() => setFollows(true))}>
            <ArrowDown className="size-4" /> Jump to latest
          </Button>
        </div>
      )}
    </div>
  );
}

async function toEnd(source: ActivityWindow, { isEnd }: ActivityState): Promise<void> {
  if (!isEnd) await source.open("end");
}

/** Keeps the end in view while it grows, until a person scrolls up; reads on at both ends of what is loaded. */
function useFollow(
  rows: Virtualizer<HTMLDivElement, Element>,
  scroller: { readonly current: HTMLDivElement | null },
  { source, state, items, isWanted }: Pick<EntriesProps, "source" | "state" | "items" | "isWanted">,
) {
  const [follows, setFollows] = useState(!isWanted);
  const total = rows.getTotalSize();
  useLayoutEffect(() => {
    const box = scroller.current;
    if (follows && box !== null && state.isEnd) box.scrollTop = box.scrollHeight;
  }, [follows, total, items.length, state.isEnd, scroller]);

  // Entries added before the first one must not move the text that a person reads.
  const first = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const before = first.current;
    first.current = items[0]?.place;
    if (before === undefined || follows || items[0] === undefined || items[0].place >= before) return;
    const index = items.findIndex(({ place }) => place >= before);
    if (index > 0) rows.scrollToIndex(index, { align: "start" });
  }, [items, follows, rows]);

  const lastTop = useRef(0);
  const onScroll = (): void => {
    const box = scroller.current;
    if (box === null) return;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    if (!isAtEnd && follows && box.scrollTop < lastTop.current) setFollows(false);
    if (isAtEnd && !follows && state.isEnd) setFollows(true);
    lastTop.current = box.scrollTop;
    if (box.scrollTop < NEAR_START && state.from > 0 && !follows) void source.older();
    if (isAtEnd && !state.isEnd) void source.newer();
  };
  return { follows, setFollows, onScroll };
}

/** Which entries a person has opened. Rows come and go while people scroll, so the list remembers it. */
function useOpened() {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  return {
    isOpen: (place: number) => opened.has(place),
    toggle: (place: number) =>
      setOpened((before) => {
        const next = new Set(before);
        if (!next.delete(place)) next.add(place);
        return next;
      }),
  };
}
