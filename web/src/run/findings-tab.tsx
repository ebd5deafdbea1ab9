import type { ReactNode } from "react";
import { Findings } from "../ui/findings.tsx";
import { Panel } from "../ui/panel.tsx";
import { Empty } from "../ui/states.tsx";
import { Loops } from "./loops.tsx";
import type { RunDetail } from "./types.ts";

/** The loops, and everything that the run's reviews found: first what is still there, then what became of the rest. */
export function FindingsTab({ run }: { readonly run: RunDetail }): ReactNode {
  const open = run.findings.filter(({ state }) => state === "open" || state === "accepted");
  const settled = run.findings.filter(({ state }) => state === "fixed" || state === "withdrawn");
  return (
    <div className="flex flex-col gap-4">
      <Loops run={run} />
      {run.findings.length === 0 && <Empty title="No findings">No review of this run has found anything yet.</Empty>}
      {open.length > 0 && (
        <Panel title={`Open findings (${open.length})`} level={3}>
          <Findings findings={open} />
        </Panel>
      )}
      {settled.length > 0 && (
        <Panel title={`Settled findings (${settled.length})`} level={3}>
          <Findings findings={settled} label="Settled findings" />
        </Panel>
      )}
    </div>
  );
}
