// The graph of a run: the stages of its flow with their state.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { Graph, type GraphStage } from "../graph/graph.tsx";
import { countText, marksOf, waysInWords } from "./stage-mark.ts";
import { Elapsed } from "../ui/time.tsx";
import type { RunDetail, RunStage } from "./types.ts";

export function RunGraph({
  run,
  selected,
}: {
  readonly run: RunDetail;
  readonly selected: string | undefined;
}): ReactNode {
  const stages = useMemo(() => drawn(run), [run]);
  return (
    <Graph
      stages={stages}
      label={`Stages of run ${run.number}`}
      countOf={(counter, track) => countText(run.counters, counter, track)}
      selected={selected}
      wrap={(id, className, content) => (
        <Link
          to="/runs/$run"
          params={{ run: String(run.number) }}
          search={{ stage: id, tab: "timeline" }}
          resetScroll={false}
          className={className}
          {...(id === selected ? { "aria-current": "step" as const } : {})}
        >
          {content}
        </Link>
      )}
    />
  );
}

function drawn(run: RunDetail): readonly GraphStage[] {
  const marks = marksOf(run.stages);
  return run.stages.map((stage, index) => ({
    id: stage.id,
    track: stage.track,
    kind: stage.kind,
    who: stage.who,
    ways: stage.ways,
    mark: marks[index] ?? null,
    note: <Note stage={stage} />,
    says: waysInWords(stage, run.counters),
  }));
}

function Note({ stage: { attempts, state } }: { readonly stage: RunStage }): ReactNode {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  return (
    <>
      {attempts.length > 1 && <span className="shrink-0">#{last.attempt}</span>}
      {last.startedAt !== null && (last.endedAt !== null || state === "running") && (
        <Elapsed since={last.startedAt} until={last.endedAt} />
      )}
    </>
  );
}
