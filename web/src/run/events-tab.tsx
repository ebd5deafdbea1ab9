// The events of a run, in order. Minor events are folded into one row; a click on an event shows its payload.

import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { queryClient } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { saveFile } from "../ui/save-file.ts";
import { Badge } from "../ui/status-badge.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { clock } from "../ui/time.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { foldMinor, tell, type DescribedEvent } from "./event-words.ts";
import { eventsQuery } from "./run-events.ts";
import type { RunDetail, ListedEvent } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

const PAYLOAD_CHARS = 64 * 1024;

export function EventsTab({ run, stage }: { readonly run: RunDetail; readonly stage: string | undefined }): ReactNode {
  const { data, error, refetch, isFetching } = useQuery(eventsQuery(run.id));
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<ListedEvent | null>(null);
  const described = useMemo(() => data?.events.map(tell) ?? [], [data]);
  const own = useMemo(
    () => (stage === undefined ? described : described.filter((each) => each.stage === stage)),
    [described, stage],
  );
  if (data === undefined)
    return error === null ? <Loading what="events" /> : <Failure error={error} retry={() => void refetch()} />;
  const save = (): void =>
    saveFile(`run-${run.number}-events.ndjson`, data.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2 text-sm text-muted">
        <span className="tabular">
          {own.length.toLocaleString()} events{stage === undefined ? "" : ` of ${stage}`}
          {data.hasMore && " so far"}
        </span>
        <span className="flex flex-wrap items-center gap-3">
          <label className="flex min-h-9 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
            <input type="checkbox" checked={isOpen} onChange={({ target }) => setOpen(target.checked)} />
            Show all
          </label>
          <Button onClick={save}>Save as NDJSON</Button>
        </span>
      </div>
      <EventList
        described={own}
        isOpen={isOpen}
        open={(seq) => setShown(data.events.find((event) => event.seq === seq) ?? null)}
      />
      {data.hasMore && (
        <Button
          disabledBecause={isFetching ? "More events are loading." : undefined}
          onClick={() => void queryClient.refetchQueries({ queryKey: ["events", run.id] })}
        >
          Load more
        </Button>
      )}
      {shown !== null && <Payload event={shown} close={() => setShown(null)} />}
    </div>
  );
}

function EventList({
  described,
  isOpen,
  open,
}: {
  readonly described: readonly DescribedEvent[];
  /** Whether minor events are shown instead of folded. */
  readonly isOpen: boolean;
  readonly open: (seq: number) => void;
}): ReactNode {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const lines = useMemo(() => foldMinor(described, isOpen, opened), [described, isOpen, opened]);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 36,
    overscan: 12,
    getItemKey: (index) => {
      const line = lines[index];
      return line === undefined ? index : line.type === "event" ? line.described.seq : `folded ${line.seq}`;
    },
  });
  return (
    <>
      {lines.length === 0 && <Empty title="No events." />}
      <div
        ref={scroller}
        role="group"
        aria-label="Events"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
        tabIndex={0}
        className="max-h-[62dvh] overflow-auto rounded-md border border-line bg-panel"
      >
        <VirtualList rows={lines} virtual={rows} itemClass="border-b border-line/60">
          {(line) =>
            line.type === "folded" ? (
              <button
                type="button"
                onClick={() => setOpened(new Set([...opened, line.seq]))}
                className="min-h-8 w-full cursor-pointer px-3 text-left text-xs text-muted hover:bg-sunken pointer-coarse:min-h-11"
              >
                ··· {line.count} more {line.count === 1 ? "step" : "steps"}
              </button>
            ) : (
              <EventRow described={line.described} open={() => open(line.described.seq)} />
            )
          }
        </VirtualList>
      </div>
    </>
  );
}

function EventRow({ described, open }: { readonly described: DescribedEvent; readonly open: () => void }): ReactNode {
  return (
    <button
      type="button"
      onClick={open}
      className={`grid min-h-9 w-full cursor-pointer grid-cols-[1fr_auto] items-center gap-x-3 px-3 py-1 text-left text-sm hover:bg-sunken pointer-coarse:min-h-11 md:grid-cols-[10.5rem_11rem_7rem_1fr] ${described.isHuman ? "bg-active-soft" : ""}`}
    >
      <span className="text-xs text-muted tabular max-md:order-2">{clock(described.at)}</span>
      <span className="truncate font-mono text-xs max-md:order-1">{described.type}</span>
      <span className="truncate text-xs text-muted max-md:hidden">
        <SafeText max={60}>{described.stage}</SafeText>
      </span>
      <span className="flex min-w-0 items-center gap-2 max-md:order-3 max-md:col-span-2">
        {described.isHuman && (
          <Badge tone="active">
            <Icon name="person" />
            <SafeText max={40}>{described.actor.slice("human:".length)}</SafeText>
          </Badge>
        )}
        <span className="truncate">
          <SafeText>{described.text}</SafeText>
        </span>
      </span>
    </button>
  );
}

function Payload({ event, close }: { readonly event: ListedEvent; readonly close: () => void }): ReactNode {
  const text = JSON.stringify(event.event, null, 2);
  return (
    <Dialog title={`${event.event.type} · event ${event.seq}`} close={close} wide>
      <p className="mb-2 text-sm text-muted">
        {clock(event.event.at)} · <SafeText max={100}>{event.event.actor}</SafeText> · version {event.version}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard. */}
      <pre tabIndex={0} className="max-h-[55dvh] overflow-auto rounded-md bg-sunken p-3 text-xs">
        <SafeText max={PAYLOAD_CHARS}>{text}</SafeText>
      </pre>
      <div className="mt-3 flex justify-end gap-2">
        {text.length > PAYLOAD_CHARS && (
          <Button onClick={() => saveFile(`event-${event.seq}.json`, text)}>Open raw</Button>
        )}
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
