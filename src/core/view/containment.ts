// The containment of an attempt's program, in the words that CLI, API and dashboard show. A decision is worth as much as the boundary
// around the agent: without a sandbox it can do whatever the person can.

import type { AttemptFacts } from "../attempt-facts.ts";
import type { Enclosure } from "../flow/enclosure.ts";
import { isConfining, WORKSPACE_MODES, type WorkspaceMode } from "../flow/workspace-mode.ts";

export type Containment = {
  readonly mode: WorkspaceMode;
  /** Only a sandbox confines; the other kinds separate the work, not the program. */
  readonly isConfined: boolean;
  /** The enclosure of its processes; null in a sandbox, and if the record has none. */
  readonly enclosure: Enclosure | null;
  /** `no sandbox: worktree, cgroup`, `sandbox: bubblewrap`. */
  readonly label: string;
};

/** Null where no program ran (Passrail's own work, work from outside), or where the record does not say in what. */
export function containmentOf({
  mode,
  runner,
  enclosure,
}: Pick<AttemptFacts, "mode" | "runner" | "enclosure">): Containment | null {
  const known = WORKSPACE_MODES.find((each) => each === mode);
  if (runner === null || known === undefined) return null;
  const isConfined = isConfining(known);
  const held = isConfined ? null : enclosure;
  const label = `${isConfined ? "sandbox" : "no sandbox"}: ${NAMES[known]}${held === null ? "" : `, ${HELD_BY[held]}`}`;
  return { mode: known, isConfined, enclosure: held, label };
}

export type ContainedStages = Containment & { readonly stages: readonly string[] };

/** Each kind once with the stages that ran in it; the ones without a sandbox first, because a person should see them. */
export function containedStages(
  ran: Iterable<{ readonly stage: string; readonly containment: Containment | null }>,
): readonly ContainedStages[] {
  const found = new Map<string, ContainedStages>();
  for (const { stage, containment } of ran) {
    if (containment === null) continue;
    const stages = found.get(containment.label)?.stages ?? [];
    found.set(containment.label, { ...containment, stages: stages.includes(stage) ? stages : [...stages, stage] });
  }
  return [...found.values()].toSorted((a, b) => Number(a.isConfined) - Number(b.isConfined));
}

/** The enclosure of processes, in words: `processes held by a cgroup`. */
export const HELD_BY: Readonly<Record<Enclosure, string>> = {
  cgroup: "processes held by a cgroup",
  scope: "processes held by a scope of systemd",
  namespace: "processes held by a PID namespace",
  markers: "processes held by markers",
};

const NAMES: Readonly<Record<WorkspaceMode, string>> = {
  "in-place": "the project's folder",
  worktree: "worktree",
  clone: "clone",
  bubblewrap: "bubblewrap",
  docker: "docker container",
  podman: "podman container",
  daytona: "daytona",
};
