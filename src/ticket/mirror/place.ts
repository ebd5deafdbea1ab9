// Which ticket file a run belongs to, what a ticket's file says to agents, and whether something works on a run now.

import { runFacts } from "../../core/run/facts.ts";
import { isEnded, type Run, type Subject } from "../../core/run/run.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";

export type TicketPlace = {
  readonly id: string;
  /** The project whose folder of tickets has the file; agents may work in another repository. */
  readonly project: string;
  /** Relative to that project. */
  readonly path: string;
  /** What the file said when the run began. */
  readonly status: string;
};

/** Undefined for a run that did not come from a ticket's file. */
export function placeOf(run: Run): TicketPlace | undefined {
  const { ticket, config } = runFacts(run);
  const path = ticket.file ?? "";
  const project = ticket.project || config.project || "";
  if (path === "" || project === "") return undefined;
  return { id: run.subject.id, project, path, status: ticket.status ?? "" };
}

/** What agents are told: the title, then the description, then what stands below it where that says something else. */
export function subjectOf({ id, title, description, body }: Ticket): Subject {
  const [said, below] = [description.trim(), body.trim()];
  const text = below === "" || said.includes(below) ? said : below.includes(said) ? below : `${said}\n\n${below}`;
  return { id, title: title.slice(0, 200), body: text };
}

/** A program of ours works on it; what waits in line, for a person or for somebody outside does not count. */
export function worksNow(run: Run): boolean {
  return !isEnded(run) && Object.values(run.tracks).some((track) => track.at === "running" && track.outside !== true);
}
