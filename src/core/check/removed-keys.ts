// Keys that flow files of version 0.1 could have and that had no effect. Passrail refuses a file that still has one and explains why.

import type { Path } from "./problem.ts";

type RemovedKey = { readonly parent: (path: Path) => boolean; readonly why: string };

const REMOVED: Readonly<Record<string, RemovedKey>> = {
  trigger: {
    parent: isStage,
    why: "remove it: the rules of your webhooks (webhooks in passrail.yaml) say which gates a webhook answers",
  },
  dir: { parent: isStage, why: "remove it: tickets.dir of passrail.yaml says where tickets are written" },
  write: { parent: under("route"), why: "remove it: Passrail always writes the error into the ticket's file" },
  fresh: {
    parent: endsWith("result"),
    why: "remove it: Passrail always moves an older file away before the attempt, so only a new one counts",
  },
  provider: {
    parent: endsWith("workspace"),
    why: "remove it: workspaces.sandbox of passrail.yaml chooses the kind of sandbox",
  },
  one_pending_per: {
    parent: endsWith("handoffs"),
    why: "remove it: every agent of a story has at most one open handoff",
  },
  on_start: {
    parent: endsWith("handoffs"),
    why: "remove it: a start always times out handoffs that are older than stale_after",
  },
  isolation: {
    parent: endsWith("defaults"),
    why: 'write "session: clean" (no earlier conversation) and "questions: deny" (no questions while it works) instead',
  },
  same_issues: {
    parent: under("counters"),
    why: 'texts are no longer compared: write "findings: ids" (or "findings: rows") at the stage that judges, and "max_attempts" here',
  },
  per: { parent: endsWith("gates"), why: "remove it: trust is always decided for each track separately" },
  env: {
    parent: endsWith("merge"),
    why: "remove it: MERGE_MODE and merge.mode of passrail.yaml always choose the mode",
  },
};

/** The hint for a removed key; undefined for any other key. */
export function removedKeyHint(path: Path, key: string): string | undefined {
  const removed = Object.hasOwn(REMOVED, key) ? REMOVED[key] : undefined;
  return removed?.parent(path) === true ? removed.why : undefined;
}

function endsWith(name: string): (path: Path) => boolean {
  return (path) => path.at(-1) === name;
}

/** A value in a mapping of that name, whatever its key. */
function under(name: string): (path: Path) => boolean {
  return (path) => path.at(-2) === name;
}

function isStage(path: Path): boolean {
  return path.at(-2) === "stages" || path.at(-2) === "templates" || path.at(-2) === "then_in_same_workspace";
}
