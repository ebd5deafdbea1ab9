// The report of a night: what landed, what waits for a person, what failed, what could not start, what is still open,
// and the cost. None of it is stored. Items and loose ends are those of the inbox, so both say the same about the same
// run.

import { amountText } from "../budget/budget.ts";
import { causeText } from "../run/postponement.ts";
import type { InboxItem, Run } from "../run/run.ts";
import type { CannotStart } from "../ticket/cannot-start.ts";
import type { TicketPlan } from "../ticket/plan.ts";
import { dayBudgetNote, type Grouped } from "./day-budget.ts";
import { answersTo, askedBy } from "./item-text.ts";
import type { LooseEnd } from "./loose-end.ts";
import type { RunEnd } from "./run-end.ts";
import { waitText } from "./wait-text.ts";

export type NightReportRow = {
  /** The ticket, or whatever else the run is about; null for a file that is no ticket. */
  readonly subject: string | null;
  readonly title: string;
  readonly run: { readonly id: string; readonly number: number } | null;
  /** The event, with its cause. */
  readonly text: string;
  /** The commands, the usual one first; an address for work that waits on a forge. */
  readonly commands: readonly string[];
};

/** `usd`: the cost that its attempts reported; null if some were metered and none reported. */
export type EndedRow = NightReportRow & {
  readonly at: string;
  readonly state: RunEnd["state"] | "canceled";
  readonly commit: string | null;
  readonly target: string | null;
  readonly usd: number | null;
  readonly meteredAttempts: number;
};

export type NightReportCost = {
  readonly attempts: number;
  /** The sum of what was reported; null if attempts were metered and none reported. */
  readonly usd: number | null;
  /** Attempts whose cost is not known. */
  readonly unknownUsd: number;
  /** Known cost per landed run that was metered; null without one. */
  readonly usdPerLanded: number | null;
  /** Landed runs whose agents report no cost, or not all of it. */
  readonly landedUnknown: number;
};

export type NightReport = {
  readonly since: string;
  readonly until: string;
  readonly landed: readonly EndedRow[];
  /** Ended without work that left: there was none, it was made in place, or a person canceled. */
  readonly ended: readonly EndedRow[];
  readonly waiting: readonly NightReportRow[];
  readonly failed: readonly NightReportRow[];
  readonly cannotStart: readonly NightReportRow[];
  readonly goingOn: readonly NightReportRow[];
  /** Tickets that wait for others or for a slot. */
  readonly later: readonly NightReportRow[];
  readonly cost: NightReportCost;
  /** More runs ended than were looked at. */
  readonly isCut: boolean;
};

export type NightReportItem = Grouped<{ readonly item: InboxItem }> & {
  readonly run: Run;
  readonly number: number;
};

export type NightReportFacts = Pick<NightReport, "since" | "until" | "isCut"> & {
  readonly ended: readonly EndedRow[];
  readonly items: readonly NightReportItem[];
  readonly ends: readonly LooseEnd[];
  readonly cannotStart: readonly CannotStart[];
  readonly running: readonly { readonly run: Run; readonly number: number }[];
  /** Null where no tickets are read. */
  readonly plan: TicketPlan | null;
  readonly spent: Pick<NightReportCost, "attempts" | "unknownUsd"> & { readonly usd: number };
};

const LEFT: ReadonlySet<string> = new Set(["landed", "pushed", "proposed"]);

/** A ticket without a run that a start was refused for could not start; it did not fail. */
function isStuck({ id, kind }: LooseEnd): boolean {
  return kind === "file" || id.startsWith("start:");
}

function hasFailed(end: LooseEnd): boolean {
  return end.kind === "stopped" || (end.kind === "blocked" && !isStuck(end));
}

export function nightReportOf(facts: NightReportFacts): NightReport {
  const { cannotStart, ended, ends, items, plan, running, since, spent, until, isCut } = facts;
  const isLate = ({ item }: NightReportItem): boolean => item.kind === "escalation";
  const landed = oncePerWork(ended.filter(({ state }) => LEFT.has(state)));
  const waiting = [
    ...items.filter((each) => !isLate(each)).map(itemRow),
    ...ends.filter(({ kind }) => kind === "merge" || kind === "trust").map(endRow),
  ];
  const failed = [...items.filter(isLate).map(itemRow), ...ends.filter(hasFailed).map(endRow)];
  const files = ends.filter(isStuck).map(endRow);
  const named = new Set([...files, ...waiting, ...failed].flatMap(({ subject }) => subject ?? []));
  const others = cannotStart.filter(({ ticket, path }) =>
    ticket === null ? !files.some(({ title }) => title === path) : !named.has(ticket),
  );
  const goingOn = running.filter(({ run }) => !ends.some((end) => end.run?.id === run.id)).map(goingRow);
  const told = new Set([...named, ...goingOn.map(({ subject }) => subject), ...others.map(({ ticket }) => ticket)]);
  return {
    since,
    until,
    landed,
    ended: ended.filter(({ state }) => !LEFT.has(state)),
    waiting,
    failed,
    cannotStart: [...files, ...others.map(stuckRow)],
    goingOn,
    later: plan === null ? [] : laterRows(plan, told),
    cost: costOf(spent, landed),
    isCut,
  };
}

/** `passrail merge` lands the work of a run by a run of its own: one work, reported with the run that made it. */
function oncePerWork(rows: readonly EndedRow[]): readonly EndedRow[] {
  const isSame = (a: EndedRow, b: EndedRow): boolean =>
    a.subject === b.subject && a.target === b.target && a.commit !== null && a.commit === b.commit;
  const numberOf = ({ run }: EndedRow): number => run?.number ?? 0;
  return rows.filter((row) => !rows.some((other) => isSame(row, other) && numberOf(other) < numberOf(row)));
}

function itemRow({ item, others, run, number }: NightReportItem): NightReportRow {
  const note = dayBudgetNote(item, others);
  const said = [...askedBy(item), ...(note === undefined ? [] : [note])].join(" / ");
  return {
    subject: run.subject.id,
    title: run.subject.title,
    run: { id: run.id, number },
    text: `${waitText(item)}${said === "" ? "" : `: ${said}`}`,
    commands: answersTo(item, `${number}.${item.number}`),
  };
}

function endRow({ ticket, title, text, run, verbs }: LooseEnd): NightReportRow {
  return { subject: ticket, title, run, text, commands: verbs.map(({ command }) => command) };
}

function stuckRow({ ticket, path, line, why }: CannotStart): NightReportRow {
  const place = line === null ? path : `${path}:${line}`;
  const command = ticket === null ? "passrail ticket list" : `passrail explain ${ticket}`;
  return { subject: ticket, title: path, run: null, text: `${place}: ${why}`, commands: [command] };
}

function goingRow({ run, number }: { readonly run: Run; readonly number: number }): NightReportRow {
  const held = Object.values(run.tracks).flatMap((track) =>
    track.at === "ready" && track.notBefore !== undefined ? [{ ...track, notBefore: track.notBefore }] : [],
  );
  const [first] = held.toSorted((a, b) => (a.notBefore < b.notBefore ? -1 : 1));
  const why = first?.because === undefined ? "" : ` (${causeText(first.because)})`;
  const text = first === undefined ? `It is ${run.word}.` : `${first.stage} resumes at ${first.notBefore}${why}.`;
  return {
    subject: run.subject.id,
    title: run.subject.title,
    run: { id: run.id, number },
    text,
    commands: [`passrail runs show ${number}`],
  };
}

function laterRows({ tickets }: TicketPlan, told: ReadonlySet<string | null>): readonly NightReportRow[] {
  return [...tickets.values()].flatMap(({ state, ticket, why }) =>
    state === "ended" || told.has(ticket.id)
      ? []
      : [
          {
            subject: ticket.id,
            title: ticket.title,
            run: null,
            text: `${ticket.status}: ${why}`,
            commands: [`passrail explain ${ticket.id}`],
          },
        ],
  );
}

function costOf(
  { attempts, usd, unknownUsd }: NightReportFacts["spent"],
  landed: readonly EndedRow[],
): NightReportCost {
  const known = landed.flatMap((row) => (row.usd !== null && row.meteredAttempts > 0 ? [row.usd] : []));
  const sum = known.reduce((total, each) => total + each, 0);
  return {
    attempts,
    usd: attempts > 0 && unknownUsd >= attempts ? null : rounded(usd),
    unknownUsd,
    usdPerLanded: known.length === 0 ? null : rounded(sum / known.length),
    landedUnknown: landed.length - known.length,
  };
}

function rounded(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

/** `$1.25, and 2 attempts did not report theirs`; what was not reported is never zero. */
export function nightReportCostText({
  attempts,
  usd,
  unknownUsd,
  usdPerLanded,
  landedUnknown,
}: NightReportCost): string {
  if (attempts === 0) return "no metered attempts: programs of your own report no cost";
  const silent = `${unknownUsd} attempt${unknownUsd === 1 ? "" : "s"} did not report`;
  const total = usd === null ? "unknown" : amountText("usd", usd);
  const each = usdPerLanded === null ? "unknown" : amountText("usd", usdPerLanded);
  const rest = landedUnknown === 0 ? "" : ` (${landedUnknown} of unknown cost left out)`;
  return `${total}${unknownUsd === 0 ? "" : `, and ${silent}`}; per landed run ${each}${rest}`;
}
