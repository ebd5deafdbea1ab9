// The home page: items that need you, working attempts, and the next work; beside them the selected thing. On a phone each item has a separate
// page.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { inboxQuery, nowQuery } from "../base/queries.ts";
import { DoneToday } from "../inbox/done-today.tsx";
import { useHeld } from "../settle/held.ts";
import { PageHead } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { useMedia, WIDE } from "../ui/use-media.ts";
import { Filters } from "./filters.tsx";
import { Group } from "./group.tsx";
import { Later } from "./later.tsx";
import { NeedList } from "./need-list.tsx";
import { KINDS, kindOf, type Need, type Needs, needsOf } from "./needs.ts";
import { Next } from "./next.tsx";
import { useNowKeys } from "./use-keys.ts";
import { Working } from "./working.tsx";
import { optional } from "../../../src/core/optional.ts";

/** The pane beside the list comes after it; a phone shows the list alone. */
const Decision = lazy(async () => ({ default: (await import("../inbox/decision.tsx")).Decision }));
const OneItem = lazy(async () => ({ default: (await import("../inbox/one-item.tsx")).OneItem }));
const EndPane = lazy(async () => ({ default: (await import("./end-pane.tsx")).EndPane }));
const Welcome = lazy(async () => ({ default: (await import("../welcome/page.tsx")).WelcomePage }));

export function NowPage(): ReactNode {
  const inbox = useQuery(inboxQuery);
  const now = useQuery(nowQuery);
  const at = useNow(15_000);
  const held = useHeld();
  if (inbox.data === undefined)
    return inbox.isPending ? (
      <Loading what="what needs you" />
    ) : (
      <Failure error={inbox.error} retry={() => void inbox.refetch()} />
    );
  const needs = needsOf({ inbox: inbox.data, now: now.data, held }, new Date(at).toISOString());
  if (now.data?.isNew === true && needs.open.length + needs.later.length === 0)
    return (
      <Suspense fallback={<Loading what="the first steps" />}>
        <Welcome />
      </Suspense>
    );
  return (
    <Page needs={needs} unseen={inbox.data.unseen}>
      {now.data === undefined ? (
        now.error === null ? (
          <Loading what="what works" />
        ) : (
          <Failure error={now.error} retry={() => void now.refetch()} />
        )
      ) : (
        <>
          <Working rows={now.data.working} />
          <Next entries={now.data.next} />
        </>
      )}
    </Page>
  );
}

type PageProps = {
  readonly needs: Needs;
  /** Older completed runs that the daemon has not looked at yet. */
  readonly unseen: number;
  readonly children: ReactNode;
};

function Page({ needs, unseen, children }: PageProps): ReactNode {
  const isWide = useMedia(WIDE);
  const { item: wanted, kind } = useSearch({ from: "/" });
  const shown = shownOf(needs, kind);
  const selected = wanted ?? shown[0]?.id;
  const need = [...shown, ...needs.open, ...needs.later].find(({ id }) => id === selected);
  const { open, showNext } = useSteps(shown, selected, need);
  useNowKeys(shown, need, isWide);
  const pane = (
    <Pane
      key={selected}
      id={selected}
      need={need}
      isLater={needs.later.some(({ id }) => id === selected)}
      showNext={showNext}
    />
  );

  if (!isWide && wanted !== undefined)
    return (
      <>
        <h1 className="sr-only">Now</h1>
        <p className="mb-3">
          <Link to="/" className="inline-flex min-h-9 items-center gap-1 text-sm pointer-coarse:min-h-11">
            <span aria-hidden="true">‹</span> Now
          </Link>
        </p>
        {pane}
      </>
    );
  const isBeside = isWide && selected !== undefined;
  return (
    <>
      <PageHead title="Now" />
      <div className={isBeside ? "grid grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)] items-start gap-6" : "max-w-3xl"}>
        <div
          className={
            isBeside
              ? "sticky top-6 flex max-h-[calc(100dvh-3rem)] flex-col gap-5 overflow-y-auto p-0.5"
              : "flex flex-col gap-5"
          }
        >
          <Group id="needs-you" title={`Needs you (${needs.open.length})`}>
            <Filters needs={needs} kind={kind} />
            {shown.length === 0 ? (
              <NothingShown needs={needs} unseen={unseen} />
            ) : (
              <NeedList needs={shown} selected={selected} isWide={isWide} onOpen={open} />
            )}
            <Unseen count={unseen} />
          </Group>
          {children}
          <DoneToday />
        </div>
        {isBeside && (
          <section aria-label="Decision" className="min-w-0">
            {pane}
          </section>
        )}
      </div>
    </>
  );
}

function shownOf({ open, later }: Needs, kind: string | undefined): readonly Need[] {
  if (kind === "later") return later;
  const wanted = KINDS.find((each) => each === kind);
  return wanted === undefined ? open : open.filter((need) => kindOf(need) === wanted);
}

/** To the next entry after a decision, with the focus on its heading. */
function useSteps(shown: readonly Need[], selected: string | undefined, need: Need | undefined) {
  const navigate = useNavigate();
  /** The entry whose heading gets the focus once it is drawn. */
  const [wantsFocus, open] = useState<string | null>(null);
  useEffect(() => {
    if (wantsFocus === null || need?.id !== wantsFocus) return;
    open(null);
    document.querySelector<HTMLElement>("#decision-head")?.focus();
  }, [wantsFocus, need]);
  const showNext = (): void => {
    const at = shown.findIndex(({ id }) => id === selected);
    const next = shown[at + 1] ?? shown.find(({ id }) => id !== selected);
    open(next?.id ?? null);
    const item = next === undefined ? {} : { item: next.id };
    void navigate({
      to: "/",
      search: ({ kind }) => ({ ...optional({ kind }), ...item }),
      replace: true,
    });
    scrollTo({ top: 0 });
  };
  return { open, showNext };
}

type PaneProps = {
  readonly id: string | undefined;
  readonly need: Need | undefined;
  readonly isLater: boolean;
  readonly showNext: () => void;
};

function Pane({ id, need, isLater, showNext }: PaneProps): ReactNode {
  if (id === undefined) return null;
  if (need === undefined) {
    // Settled meanwhile: an item still has its record, a loose end is gone.
    if (!/^r[0-9a-f]+\.[0-9]+$/u.test(id)) return <Empty title="This is settled." />;
    return (
      <Suspense fallback={<Loading what="the item" />}>
        <OneItem id={id} onDecided={showNext} />
      </Suspense>
    );
  }
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Later id={need.id} isLater={isLater} />
      <Suspense fallback={<Loading what="what to do" />}>
        {need.is === "item" ? (
          <Decision key={need.id} item={need.item} onDecided={showNext} />
        ) : (
          <EndPane need={need} />
        )}
      </Suspense>
    </div>
  );
}

function NothingShown({
  needs: { open, later },
  unseen,
}: {
  readonly needs: Needs;
  readonly unseen: number;
}): ReactNode {
  if (open.length > 0) return <p className="text-sm text-muted">Nothing of this kind needs you.</p>;
  if (unseen > 0) return null;
  return (
    <Empty title="Nothing is waiting for you.">
      <p className="text-sm">
        {later.length > 0 && "Snoozed entries come back at their time. "}
        <Link to="/runs" className="underline">
          Past runs
        </Link>{" "}
        ·{" "}
        <Link to="/welcome" className="underline">
          Start a run
        </Link>
      </p>
    </Empty>
  );
}

function Unseen({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null;
  return (
    <p role="status" className="pt-1 text-xs text-muted">
      Looking through {count.toLocaleString()} older finished {count === 1 ? "run" : "runs"} for work that has not
      landed…{" "}
      <Link to="/runs" search={{ status: "completed" }} className="underline">
        All finished runs
      </Link>
    </p>
  );
}
