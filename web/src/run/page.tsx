// The page of one run: its state, its place in the flow, and its details in tabs. The address holds the tab.

import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { call } from "../base/api.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { runQuery } from "../base/queries.ts";
import { RunRail } from "./run-rail.tsx";
import { Composer } from "./composer.tsx";
import { RunHeader } from "./run-header.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import type { RunDetail } from "./types.ts";
import { TakenBanner } from "./taken-banner.tsx";
import { WaitingBanner } from "./waiting-banner.tsx";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import {
  ChartGantt,
  ChevronLeft,
  ChevronRight,
  FileDiff,
  History,
  ListTodo,
  type LucideIcon,
  MessagesSquare,
  X,
} from "lucide-react";

const CODE = {
  activity: () => import("./activity-tab.tsx"),
  log: () => import("./log-tab.tsx"),
  changes: () => import("./changes-tab.tsx"),
  findings: () => import("./findings-tab.tsx"),
  history: () => import("./events-tab.tsx"),
};
const ActivityTab = lazy(async () => ({ default: (await CODE.activity()).ActivityTab }));
const LogTab = lazy(async () => ({ default: (await CODE.log()).LogTab }));
const ChangesTab = lazy(async () => ({ default: (await CODE.changes()).ChangesTab }));
const EventsTab = lazy(async () => ({ default: (await CODE.history()).EventsTab }));
const FindingsTab = lazy(async () => ({ default: (await CODE.findings()).FindingsTab }));
const Attempts = lazy(async () => ({ default: (await import("./attempts.tsx")).Attempts }));

const TABS = ["activity", "changes", "findings", "timeline", "history"] as const;
/** `log` is the raw side of the activity. */
type Tab = (typeof TABS)[number] | "log";

/** Where the parts of earlier versions are now: their addresses are in notes and chats. */
const MOVED: Readonly<Record<string, Tab>> = {
  stages: "timeline",
  artifacts: "timeline",
  cost: "timeline",
  events: "history",
};

const isCode = (tab: string | undefined): tab is keyof typeof CODE => tab !== undefined && Object.hasOwn(CODE, tab);

export function RunPage(): ReactNode {
  const { run: reference } = useParams({ from: "/runs/$run" });
  const { tab } = useSearch({ from: "/runs/$run" });
  const { data: run, error, refetch } = useQuery(runQuery(reference));
  // The code of the part comes beside the run, not after it. A failure shows when the part is opened.
  useEffect(() => void (isCode(tab) && CODE[tab]().catch(() => undefined)), [tab]);
  if (run !== undefined) return <ShownRun run={run} />;
  return (
    <>
      <PageHead title={<SafeText max={80}>{`Run ${reference}`}</SafeText>} />
      {error === null ? <Loading what={`run ${reference}`} /> : <Failure error={error} retry={() => void refetch()} />}
    </>
  );
}

function ShownRun({ run }: { readonly run: RunDetail }): ReactNode {
  const { tab: wanted, ...more } = useSearch({ from: "/runs/$run" });
  // Chosen once: the tab must not change under a reader when the run ends.
  const [first] = useState<Tab>(run.status === "running" ? "activity" : "timeline");
  const moved = wanted === undefined ? undefined : MOVED[wanted];
  if (moved !== undefined)
    return <Navigate to="/runs/$run" params={{ run: String(run.number) }} search={{ ...more, tab: moved }} replace />;
  const tab: Tab = wanted === "log" ? "log" : (TABS.find((each) => each === wanted) ?? first);
  return (
    <>
      <RunHeader run={run}>
        <Neighbours number={run.number} />
      </RunHeader>
      <div className="flex min-w-0 flex-col gap-4">
        <TakenBanner run={run} />
        <WaitingBanner run={run} />
        <div className="grid min-w-0 gap-x-5 gap-y-4 lg:grid-cols-[15.5rem_minmax(0,1fr)]">
          <RunRail run={run} selected={more.stage} />
          <div className="flex min-w-0 flex-col gap-3">
            <Composer run={run} />
            <Tabs run={run} tab={tab} stage={more.stage} />
            <section aria-labelledby="part" className="min-w-0">
              <h2 id="part" className="sr-only">
                {name(tab)}
              </h2>
              <Suspense fallback={<Loading what={tab} />}>
                <Content run={run} tab={tab} />
              </Suspense>
            </section>
          </div>
        </div>
      </div>
    </>
  );
}

function Content({ run, tab }: { readonly run: RunDetail; readonly tab: Tab }): ReactNode {
  const { stage, attempt, file } = useSearch({ from: "/runs/$run" });
  switch (tab) {
    case "activity":
      return <ActivityTab run={run} stage={stage} attempt={attempt} />;
    case "log":
      return <LogTab run={run} stage={stage} attempt={attempt} file={file} />;
    case "timeline":
      return (
        <div className="flex min-w-0 flex-col gap-5">
          <TimelineTab run={run} />
          <Attempts run={run} selected={stage} />
        </div>
      );
    case "findings":
      return <FindingsTab run={run} />;
    case "changes":
      return <ChangesTab run={run} />;
    case "history":
      return <EventsTab run={run} stage={stage} />;
  }
}

const ICONS = {
  activity: MessagesSquare,
  changes: FileDiff,
  findings: ListTodo,
  timeline: ChartGantt,
  history: History,
} as const satisfies Readonly<Record<(typeof TABS)[number], LucideIcon>>;

function Tabs({
  run,
  tab,
  stage,
}: {
  readonly run: RunDetail;
  readonly tab: Tab;
  readonly stage: string | undefined;
}): ReactNode {
  const of = stage === undefined ? {} : { stage };
  const current = tab === "log" ? "activity" : tab;
  const shown = TABS.filter((each) => each !== "findings" || run.findings.length > 0 || tab === "findings");
  return (
    <nav
      aria-label="Parts of the run"
      className="relative flex items-center gap-1 overflow-x-auto border-b border-line"
    >
      {shown.map((each) => {
        const Drawn = ICONS[each];
        return (
          <Link
            key={each}
            to="/runs/$run"
            params={{ run: String(run.number) }}
            search={{ tab: each, ...of }}
            resetScroll={false}
            {...(each === current ? { "aria-current": "page" as const } : {})}
            className={`flex min-h-9 shrink-0 items-center gap-1.5 border-b-2 px-3 text-sm font-medium no-underline max-sm:px-2 pointer-coarse:min-h-11 ${each === current ? "border-ink text-ink" : "border-transparent text-muted hover:bg-sunken hover:text-ink"}`}
          >
            <Drawn className="size-4 max-sm:hidden" />
            {name(each)}
            {each === "findings" && run.findings.length > 0 && (
              <span className="text-xs whitespace-nowrap text-muted tabular">{findingsCount(run)}</span>
            )}
            {each === "history" && <span className="text-xs text-muted tabular">{run.version}</span>}
          </Link>
        );
      })}
      {stage !== undefined && (
        <Link
          to="/runs/$run"
          params={{ run: String(run.number) }}
          search={{ tab }}
          resetScroll={false}
          className="ml-auto flex min-h-8 shrink-0 items-center gap-1 rounded-full border border-line px-3 text-xs no-underline pointer-coarse:min-h-11"
        >
          stage {stage} <X className="size-3.5" />
          <span className="sr-only">: show all stages</span>
        </Link>
      )}
    </nav>
  );
}

/** Existing files come first. */
function findingsCount({ findings }: RunDetail): string {
  const open = findings.filter(({ state }) => state === "open" || state === "accepted").length;
  return open === 0 ? String(findings.length) : `${open} open`;
}

/** To the runs before and after, in the order of their numbers. */
function Neighbours({ number }: { readonly number: number }): ReactNode {
  const navigate = useNavigate();
  const before = useQuery({
    queryKey: ["neighbour", number],
    queryFn: ({ signal }) => call("listRuns", { query: { before: number, limit: 1 } }, { signal }),
    enabled: number > 1,
  }).data?.runs[0]?.number;
  const newest = useQuery({
    queryKey: ["runs", "newest"],
    queryFn: ({ signal }) => call("listRuns", { query: { limit: 1 } }, { signal }),
  }).data?.runs[0]?.number;
  const next = newest === undefined || newest <= number ? undefined : number + 1;
  const keys = useMemo(() => {
    const go = (to: number | undefined): void => {
      if (to !== undefined) void navigate({ to: "/runs/$run", params: { run: String(to) } });
    };
    return [
      { keys: "[", does: "Older run", group: "Run", act: () => go(before) },
      { keys: "]", does: "Newer run", group: "Run", act: () => go(next) },
    ];
  }, [before, next, navigate]);
  useShortcuts(keys);
  const [older, newer] = keys;
  return (
    <>
      <Button
        aria-label="Older run"
        keys="["
        onClick={older?.act}
        disabledBecause={before === undefined ? "There is no older run." : undefined}
      >
        <ChevronLeft className="size-4" />
      </Button>
      <Button
        aria-label="Newer run"
        keys="]"
        onClick={newer?.act}
        disabledBecause={next === undefined ? "There is no newer run." : undefined}
      >
        <ChevronRight className="size-4" />
      </Button>
    </>
  );
}

function name(tab: Tab): string {
  if (tab === "log") return "Raw files";
  return `${tab[0]?.toUpperCase() ?? ""}${tab.slice(1)}`;
}
