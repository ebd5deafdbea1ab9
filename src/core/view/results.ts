// The results of the last runs: how many passed at the first try, what landed, and what a landed ticket cost. Cost that an agent did not
// report is named, never counted as nothing. Every number comes with the runs it is made of.

import type { Run } from "../run/run.ts";

export type ResultRun = {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly ticket: string;
  readonly flow: string;
  readonly status: Run["status"];
  /** The UTC day on which it began. */
  readonly day: string;
  /** How often work was sent back and counted. */
  readonly loops: number;
  readonly landed: boolean;
  /** The cost that its attempts reported; null if none did. */
  readonly usd: number | null;
  /** Attempts that did not report their cost. */
  readonly unknownUsd: number;
  readonly tokens: number;
  readonly agents: readonly string[];
  readonly stages: readonly string[];
  readonly runners: readonly string[];
  readonly models: readonly string[];
};

export type TicketResult = {
  readonly ticket: string;
  readonly title: string;
  /** Numbers of its runs. */
  readonly runs: readonly number[];
  readonly landed: boolean;
  readonly usd: number | null;
  readonly unknownUsd: number;
  readonly loops: number;
};

export type Results = {
  /** Of completed runs: those whose work was never sent back. */
  readonly firstPass: { readonly passed: number; readonly of: number };
  /** `usdPerTicket` is of the `known` landed tickets whose whole cost was reported; null without one. */
  readonly landed: { readonly tickets: number; readonly known: number; readonly usdPerTicket: number | null };
  readonly loopsPerRun: number | null;
  /** The most expensive first. */
  readonly tickets: readonly TicketResult[];
  readonly runs: readonly ResultRun[];
};

export function resultsOf(runs: readonly ResultRun[]): Results {
  const completed = runs.filter(({ status }) => status === "completed");
  const tickets = [...Map.groupBy(runs, ({ ticket }) => ticket)].map(([ticket, of]) => ticketResult(ticket, of));
  const landed = tickets.filter((each) => each.landed);
  const known = landed.flatMap(({ usd, unknownUsd }) => (usd === null || unknownUsd > 0 ? [] : [usd]));
  const ended = runs.filter(({ status }) => status === "completed" || status === "canceled");
  return {
    firstPass: { passed: completed.filter(({ loops }) => loops === 0).length, of: completed.length },
    landed: {
      tickets: landed.length,
      known: known.length,
      usdPerTicket: known.length === 0 ? null : rounded(sum(known) / known.length),
    },
    loopsPerRun: ended.length === 0 ? null : rounded(sum(ended.map(({ loops }) => loops)) / ended.length),
    tickets: tickets.toSorted((one, other) => (other.usd ?? -1) - (one.usd ?? -1)),
    runs,
  };
}

function ticketResult(ticket: string, runs: readonly ResultRun[]): TicketResult {
  const reported = runs.flatMap(({ usd }) => (usd === null ? [] : [usd]));
  return {
    ticket,
    title: runs[0]?.title ?? ticket,
    runs: runs.map(({ number }) => number),
    landed: runs.some((run) => run.landed),
    usd: reported.length === 0 ? null : rounded(sum(reported)),
    unknownUsd: sum(runs.map(({ unknownUsd }) => unknownUsd)),
    loops: sum(runs.map(({ loops }) => loops)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
