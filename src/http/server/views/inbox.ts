// An open item of any kind on the wire: the question and the possible answers.

import type { z } from "zod";
import type { inboxItemSchema } from "../../contract/schemas/inbox.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { leadsOf } from "../../../core/view/consequences.ts";
import { explainEscalation } from "../../../core/view/escalation.ts";
import { landingOf, type LandingPlace } from "../../../core/view/landing.ts";
import { answersOf, type InboxItem, type Run } from "../../../core/run/run.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { dayBudgetNote } from "../../../core/view/day-budget.ts";
import { waitsUntil } from "../../../core/view/live-wait.ts";
import { asksOf } from "../../../core/view/item-text.ts";
import { type FindingRow, itemFindings } from "../../../core/view/findings.ts";
import { branchOf } from "../../../core/run/branch.ts";
import { workspaceMode } from "../../../core/run/run-settings.ts";

type Shown = z.input<typeof inboxItemSchema>;

/** The data to show an item: its run, and the flow that the run started with. */
export type ItemFacts = {
  readonly run: Run;
  readonly runNumber: number;
  readonly resolved: ResolvedFlow;
  /** Made by itemVersion. */
  readonly version: string;
  /** Where work of this project lands. */
  readonly place: LandingPlace;
};

/** `others`: how many further runs wait for the same day's budget. */
export function showItem({ run, runNumber, resolved, version, place }: ItemFacts, item: InboxItem, others = 0): Shown {
  const { number, kind, stage, who, openedAt } = item;
  const { flow } = resolved;
  const [, commit = null] = version.split("-");
  return {
    id: `${run.id}.${number}`,
    runId: run.id,
    number,
    kind,
    runNumber,
    flow: run.flow,
    subject: { id: run.subject.id, title: run.subject.title },
    word: run.word,
    stage,
    who,
    openedAt,
    version,
    why: explainEscalation(flow, run, item),
    waitsUntil: waitsUntil(run, number),
    asks: [...asksOf(item), ...optionalLine(dayBudgetNote(item, others))],
    answers: [...answersOf(item)],
    leads: leadsOf(flow, run, item).map((lead) => ({
      ...lead,
      lands: landingOf(resolved, run, runNumber, lead, place),
    })),
    said: saidBefore(run, item),
    spent: { usd: usdOf(run), isWhole: (run.spent?.unknownUsd ?? 0) === 0 },
    loops: counterRows(flow, run).map(({ key, loops, max }) => ({ counter: key, loops, max })),
    branch: workspaceMode(resolved, run) !== "in-place" ? branchOf(flow, run) : null,
    commit,
    issues: item.kind === "escalation" ? [...item.issues] : [],
    findings: itemFindings(run, item).map(showFinding),
    budget: item.kind === "budget" ? budgetOf(item) : null,
  };
}

export function showFinding(row: FindingRow): Shown["findings"][number] {
  return { ...row, history: row.history.map((each) => ({ ...each })) };
}

function optionalLine(line: string | undefined): readonly string[] {
  return line === undefined ? [] : [line];
}

/** Null if there were attempts and none of them reported its cost. */
function usdOf({ spent }: Run): number | null {
  if (spent === undefined) return null;
  return spent.attempts > 0 && spent.unknownUsd >= spent.attempts ? null : spent.usd;
}

/** The report of the stage that brought the run here: before a gate the stage that passed it on, otherwise the one that stopped. */
function saidBefore(run: Run, { number, stage }: InboxItem): Shown["said"] {
  const track = Object.values(run.tracks).find((each) => each.at === "waiting" && each.item.number === number);
  const from = track?.at === "waiting" ? track.carry.from : "";
  for (const id of [stage, from]) {
    const word = run.stages[id]?.last?.word;
    if (word !== undefined) return { stage: id, word };
  }
  return null;
}

function budgetOf({ scope, unit, used, limit, needed }: InboxItem & { kind: "budget" }): Shown["budget"] {
  return { scope, unit, used, limit, needed };
}
