// Why a person is asked now, in sentences: no loop is left, or loops are left and a finding does not get fixed.

import { type Finding, findingsOf, whyStuck } from "../finding/finding.ts";
import type { Flow } from "../flow/flow.ts";
import type { InboxItem, Run } from "../run/run.ts";
import { iterationText, type LoopRow, loopRows } from "./loops.ts";

/** Null for every other item, and where the reason alone says it. */
export function explainEscalation(flow: Flow, run: Run, item: InboxItem): string | null {
  if (item.kind !== "escalation") return null;
  const stuck = findingsOf(run.findings, item.stage).filter((finding) => whyStuck(finding) !== undefined);
  if (stuck.length === 0) return null;
  const said = stuck.map((finding) => saidOf(item.stage, finding)).join("; ");
  const loop = loopRows(flow, run).find(({ stage }) => stage === item.stage);
  const isOver = loop !== undefined && loop.max !== null && loop.iteration >= loop.max;
  if (isOver) return `No loop is left, and ${said}.`;
  return `${early(loop)}: ${said}. Another loop would probably end in the same way, so a person decides first.`;
}

function saidOf(stage: string, { id, reopened, notFixed }: Finding): string {
  return reopened === true
    ? `${id} came back after it was closed`
    : `${stage} said ${notFixed} times that ${id} is not fixed`;
}

/** Loops are left; a person could expect that they are used first. */
function early(loop: LoopRow | undefined): string {
  return loop === undefined || loop.max === null ? "Asked early" : `Asked early, in iteration ${iterationText(loop)}`;
}
