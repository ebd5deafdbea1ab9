// The graph of a flow without a run.

import { type ReactNode, useMemo, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { Graph, type GraphStage } from "../graph/graph.tsx";

type Flow = AnswerTo<"showFlow">;

export function FlowPicture({ flow }: { readonly flow: Flow }): ReactNode {
  const [selected, setSelected] = useState<string>();
  const stages = useMemo(() => flow.stages.map(drawn), [flow]);
  const max = new Map(flow.counters.map((counter) => [counter.name, counter.max]));
  const chosen = flow.stages.find(({ id }) => id === selected);
  return (
    <div className="flex flex-col gap-3">
      <Graph
        stages={stages}
        label={`Stages of ${flow.name}`}
        selected={selected}
        countOf={(counter) => `${counter}, ${limitText(max.get(counter) ?? null)}`}
        wrap={(id, className, content) => (
          <button
            type="button"
            className={`${className} cursor-pointer`}
            aria-pressed={id === selected}
            onClick={() => setSelected(id === selected ? undefined : id)}
          >
            {content}
          </button>
        )}
      />
      {chosen === undefined ? (
        <p className="text-xs text-muted">Choose a stage to see where it leads.</p>
      ) : (
        <Ways stage={chosen} />
      )}
    </div>
  );
}

function limitText(max: number | null): string {
  return max === null ? "no limit" : `max ${max}`;
}

function Ways({ stage: { id, kind, who, ways } }: { readonly stage: Flow["stages"][number] }): ReactNode {
  return (
    <div className="rounded-md bg-sunken p-3 text-sm">
      <p>
        <strong>{id}</strong> · {kind}
        {who !== "" && ` · ${who}`}
      </p>
      <ul className="mt-1 flex flex-col gap-0.5">
        {ways.map(({ on, to, counter }) => (
          <li key={on}>
            <code>{on}</code> → {to.join(", ")}
            {counter !== null && <span className="text-muted"> · counted by {counter}</span>}
          </li>
        ))}
        {ways.length === 0 && <li className="text-muted">Leads to the next stage.</li>}
      </ul>
    </div>
  );
}

function drawn(stage: Flow["stages"][number]): GraphStage {
  return {
    ...stage,
    mark: null,
    note: null,
    says: stage.ways.map(({ on, to }) => `${on} leads to ${to.join(", ")}`),
  };
}
