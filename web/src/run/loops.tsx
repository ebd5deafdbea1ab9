// The loops of a run: who judges, in which iteration of how many, and whom it sends the work back to.

import type { ReactNode } from "react";
import { iterationText } from "../../../src/core/view/loops.ts";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import type { RunDetail } from "./types.ts";

type Loop = RunDetail["loops"][number];

export function Loops({ run }: { readonly run: RunDetail }): ReactNode {
  if (run.loops.length === 0) return null;
  const begun = run.loops.filter(({ iteration }) => iteration > 0);
  const open = run.loops.filter(({ iteration }) => iteration === 0);
  return (
    <Panel title="Loops" level={3}>
      <div className="flex flex-col gap-2 text-sm">
        {begun.length > 0 && (
          <Table label="Loops" head={["Role", "Iteration", "Stage", "Sends back to"]}>
            {begun.map((loop) => (
              <LoopRow key={`${loop.track} ${loop.stage} ${loop.counter}`} loop={loop} />
            ))}
          </Table>
        )}
        {open.length > 0 && (
          <p className="text-muted [overflow-wrap:anywhere]">
            Not yet: <SafeText max={1000}>{open.map(openText).join("; ")}</SafeText>
          </p>
        )}
      </div>
    </Panel>
  );
}

function LoopRow({ loop }: { readonly loop: Loop }): ReactNode {
  return (
    <Row>
      <Cell of="Role" head>
        <span className="font-medium">
          <SafeText max={100}>{loop.role}</SafeText>
        </span>
      </Cell>
      <Cell of="Iteration" number>
        <Iteration loop={loop} />
      </Cell>
      <Cell of="Stage">
        {loop.stage}
        {loop.track !== "main" && <span className="text-muted"> · track {loop.track}</span>}
        {loop.counter !== loop.stage && <span className="text-muted"> · counted as {loop.counter}</span>}
      </Cell>
      <Cell of="Sends back to">{loop.backTo === "self" ? "itself" : loop.backTo}</Cell>
    </Row>
  );
}

function openText({ role, stage, track, max }: Loop): string {
  const where = track === "main" ? stage : `${stage} of ${track}`;
  const name = role === stage ? where : `${role} (${where})`;
  return max === null ? name : `${name}, at most ${max}`;
}

function Iteration({ loop }: { readonly loop: Loop }): ReactNode {
  const { iteration, max } = loop;
  const tone = max !== null && iteration >= max && max > 1 ? "attention" : iteration > 1 ? "warning" : "quiet";
  return <Badge tone={tone}>{iterationText(loop)}</Badge>;
}
