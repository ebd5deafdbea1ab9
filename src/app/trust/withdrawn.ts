// Trust that was withdrawn after a run began: an operator revoked the approval of the project's files, or its record is damaged. The run keeps
// its flow, but nothing leaves before a person has approved the files again.

import { ticketProject } from "../../core/run/facts.ts";
import type { Actor } from "../../core/run/event.ts";
import type { Run } from "../../core/run/run.ts";
import { findApproval, type TrustPlace } from "../../settings/trust/approval.ts";
import { filesInEffect } from "../../settings/trust/in-effect.ts";

/** Why no work of the run may leave; undefined while the files that decide about it are approved. `project`: that of this process. */
export function withdrawnTrust({ home, project }: TrustPlace, run: Run): string | undefined {
  for (const each of projectsOf(project, run)) {
    const inEffect = filesInEffect({ home, project: each });
    if (!inEffect.ok)
      return `the files by which ${each} decides what runs are not approved any more; passrail trust --yes, called there, approves them`;
  }
  return undefined;
}

/** The person whose approval is in force in the run's own project; undefined without one. */
export function approverOf({ home, project }: TrustPlace, run: Run): Actor | undefined {
  const approvals = projectsOf(project, run).map((each) => findApproval({ home, project: each }));
  const people = approvals.flatMap((found) => (found.type === "approved" ? [found.record] : []));
  const by = people.toSorted((a, b) => (a.approvedAt < b.approvedAt ? -1 : 1)).at(-1)?.by;
  return by?.startsWith("human:") === true ? (by as Actor) : undefined;
}

/** Settings of the process say where work goes; the run's project gave it its flow. */
function projectsOf(project: string, run: Run): readonly string[] {
  return [...new Set([project, ticketProject(run) ?? project])];
}
