// The ticket file that a run belongs to, the text that its agents receive, and whether an attempt works on the run now.

import { runFacts } from "../../core/run/facts.ts";
import { isEnded, type Run, type Subject } from "../../core/run/run.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";

export type RunTicket = {
  readonly id: string;
  /** The project whose folder of tickets has the file; agents may work in another repository. */
  readonly project: string;
  /** Relative to that project. */
  readonly path: string;
  /** The status in the file when the run began. */
  readonly status: string;
};

/** Undefined for a run that did not come from a ticket's file. */
export function ticketOfRun(run: Run): RunTicket | undefined {
  const { ticket, config } = runFacts(run);
  const path = ticket.file ?? "";
  const project = ticket.project || config.project || "";
  if (path === "" || project === "") return undefined;
  return { id: run.subject.id, project, path, status: ticket.status ?? "" };
}

/** The text for agents: the title, then the description, then the body of the file if it differs. */
export function subjectOf({ id, title, description, body }: Ticket): Subject {
  const [said, below] = [description.trim(), body.trim()];
  const text = below === "" || said.includes(below) ? said : below.includes(said) ? below : `${said}\n\n${below}`;
  return { id, title: title.slice(0, 200), body: text };
}

/** An attempt of ours works on it. Stages that wait for a slot, a person or work outside do not count. */
export function worksNow(run: Run): boolean {
  return !isEnded(run) && Object.values(run.tracks).some((track) => track.at === "running" && track.outside !== true);
}
