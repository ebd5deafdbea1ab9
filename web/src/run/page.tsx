// The page of one run: its state, its place in the flow, and its details in tabs. The address holds the tab.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { call } from "../base/api.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { runQuery } from "../base/queries.ts";
import { RunGraph } from "./run-graph.tsx";
import { RunHeader } from "./run-header.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import type { RunDetail } from "./types.ts";
import { WaitingBanner } from "./waiting-banner.tsx";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { ChevronLeft, ChevronRight, X } from "lucide-react";

const StagesTab = lazy(async () => ({ default: (await import("./stages-tab.tsx")).StagesTab }));
const LogTab = lazy(async () => ({ default: (await import("./log-tab.tsx")).LogTab }));
const ChangesTab = lazy(async () => ({ default: (await import("./changes-tab.tsx")).ChangesTab }));
const EventsTab = lazy(async () => ({ default: (await import("./events-tab.tsx")).EventsTab }));
const ArtifactsTab = lazy(async () => ({ default: (await import("./artifacts-tab.tsx")).ArtifactsTab }));
const FindingsTab = lazy(async () => ({ default: (await import("./findings-tab.tsx")).FindingsTab }));
const CostTab = lazy(async () => ({ default: (await import("./cost-tab.tsx")).CostTab }));

const TABS = ["timeline", "stages", "findings", "log", "changes", "events", "artifacts", "cost"] as const;
type Tab = (typeof TABS)[number];

export function RunPage(): ReactNode {
  const { run: reference } = useParams({ from: "/runs/$run" });
  const { data: run, error, refetch } = useQuery(runQuery(reference));
  if (run !== undefined) return <ShownRun run={run} />;
  return (
    <>
      <PageHead title={<SafeText max={80}>{`Run ${reference}`}</SafeText>} />
      {error === null ? <Loading what={`run ${reference}`} /> : <Failure error={error} retry={() => void refetch()} />}
    </>
  );
}

function ShownRun({ run }: { readonly run: RunDetail }): ReactNode {
  const { tab: wanted, stage } = useSearch({ from: "/runs/$run" });
  const tab: Tab = TABS.find((each) => each === wanted) ?? "timeline";
  return (
    <>
      <RunHeader run={run}>
        <Neighbours number={run.number} />
      </RunHeader>
      <div className="flex flex-col gap-4">
        <WaitingBanner run={run} />
        <div
          // On a phone the stages fill the screen, so they are hidden once a tab is chosen.
          className={`rounded-lg border border-line bg-panel p-2 ${wanted === undefined || tab === "timeline" ? "" : "max-sm:hidden"}`}
        >
          <RunGraph run={run} selected={stage} tab={tab} />
        </div>
        <Tabs run={run} tab={tab} stage={stage} />
        <section aria-labelledby="part" className="min-w-0">
          <h2 id="part" className="sr-only">
            {name(tab)}
          </h2>
          <Suspense fallback={<Loading what={tab} />}>
            <Content run={run} tab={tab} />
          </Suspense>
        </section>
      </div>
    </>
  );
}

function Content({ run, tab }: { readonly run: RunDetail; readonly tab: Tab }): ReactNode {
  const { stage, attempt, file } = useSearch({ from: "/runs/$run" });
  switch (tab) {
    case "timeline":
      return <TimelineTab run={run} />;
    case "stages":
      return <StagesTab run={run} selected={stage} />;
    case "findings":
      return <FindingsTab run={run} />;
    case "log":
      return <LogTab run={run} stage={stage} attempt={attempt} file={file} />;
    case "changes":
      return <ChangesTab run={run} />;
    case "events":
      return <EventsTab run={run} stage={stage} />;
    case "artifacts":
      return <ArtifactsTab run={run} stage={stage} />;
    case "cost":
      return <CostTab run={run} />;
  }
}

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
  return (
    <nav aria-label="Parts of the run" className="flex items-center gap-1 overflow-x-auto border-b border-line">
      {TABS.map((each) => (
        <Link
          key={each}
          to="/runs/$run"
          params={{ run: String(run.number) }}
          search={{ tab: each, ...of }}
          resetScroll={false}
          {...(each === tab ? { "aria-current": "page" as const } : {})}
          className={`flex min-h-9 items-center border-b-2 px-3 text-sm font-medium no-underline pointer-coarse:min-h-11 ${each === tab ? "border-active text-active" : "border-transparent text-ink hover:bg-sunken"}`}
        >
          {name(each)}
          {each === "findings" && run.findings.length > 0 && (
            <span className="ml-1 text-xs whitespace-nowrap text-muted tabular">{findingsCount(run)}</span>
          )}
          {each === "events" && <span className="ml-1 text-xs text-muted tabular">{run.version}</span>}
        </Link>
      ))}
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

/** What is still there counts first. */
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
  return `${tab[0]?.toUpperCase() ?? ""}${tab.slice(1)}`;
}
