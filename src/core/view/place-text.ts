// The first look at a project in words: its parts, and the next step. It proposes and never acts.

import { installText } from "./player-text.ts";

type Agent = { readonly runner: string; readonly version: string };

export type SeenPlace = {
  readonly project: string;
  readonly branch: string | null;
  readonly changes: boolean;
  /** Why no run can have a branch of its own here, and the fix. */
  readonly problem: { readonly message: string; readonly hint?: string | undefined } | null;
  readonly ready: readonly Agent[];
  /** The fixes for programs that are not ready. */
  readonly gaps: readonly { readonly runner: string; readonly fix: string }[];
  readonly hasSettings: boolean;
  /** Null where the project has no tickets. */
  readonly tickets: { readonly all: number; readonly canStart: number } | null;
};

export type ProposedStep = { readonly command: string; readonly about: string };

export function placeLines({ project, branch, changes, problem, ready, gaps, tickets }: SeenPlace): readonly string[] {
  const where = branch === null ? "no branch" : branch;
  const repository =
    problem === null ? `${project}: a git repository on ${where}${changes ? ", with changes" : ""}.` : null;
  const [first, ...others] = ready;
  return [
    ...(repository === null ? [problem?.message ?? "", ...hintLines(problem?.hint)] : [repository]),
    ...(first === undefined
      ? ["No coding agent is ready.", ...installText(gaps).split("\n").map(indent)]
      : [`${first.runner} ${first.version} is ready${others.map(({ runner }) => `, also ${runner}`).join("")}.`]),
    ...(tickets === null ? [] : [ticketsLine(tickets)]),
  ];
}

export function ticketsLine({ all, canStart }: NonNullable<SeenPlace["tickets"]>): string {
  const can = canStart === 0 ? "none can start now" : `${canStart} can start`;
  return `${all} ${all === 1 ? "ticket" : "tickets"}, ${can}.`;
}

/** At most four, the nearest first. */
export function firstSteps({ problem, ready, hasSettings, tickets }: SeenPlace): readonly ProposedStep[] {
  const canRun = problem === null && ready.length > 0;
  return [
    ...(canRun
      ? [{ command: 'passrail "Fix the typo in the README"', about: "builds it on a branch of its own; you decide" }]
      : []),
    ...ticketSteps(tickets),
    ...(hasSettings || problem !== null
      ? []
      : [{ command: "passrail init", about: "writes passrail.yaml with your checks" }]),
    { command: "passrail demo", about: "shows a whole run; no agent, no key" },
  ];
}

export function ticketSteps(tickets: SeenPlace["tickets"]): readonly ProposedStep[] {
  return tickets !== null && tickets.canStart > 0
    ? [{ command: "passrail work", about: "works on the tickets; tickets.dispatch: true lets passrail alone do it" }]
    : [];
}

function hintLines(hint: string | undefined): readonly string[] {
  return hint === undefined ? [] : hint.split("\n").map(indent);
}

const indent = (line: string): string => `  ${line}`;
