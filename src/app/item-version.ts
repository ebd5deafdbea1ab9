// Binds a decision to the state that the person saw: the run's events up to then, and the commit of its branch. Later events void the
// decision, except for events that say nothing about the work.

import type { EventType, RunEvent } from "../core/run/event.ts";
import type { InboxItem, Run } from "../core/run/run.ts";
import type { Store, StoredRun } from "../store/store.ts";
import { eventsOf } from "./find-run.ts";
import type { AppProblem, VersionChange } from "./problem.ts";

/** The state that the caller saw before deciding. */
export type Seen =
  /** Any state. */
  | { readonly type: "anything" }
  /** The caller names no version. Gates refuse such an answer. */
  | { readonly type: "unsaid" }
  | { readonly type: "version"; readonly version: string }
  /** A commit or a prefix of one. `orNone` also accepts a run without a commit. */
  | { readonly type: "commit"; readonly commit: string; readonly orNone: boolean };

export type Looking = {
  readonly store: Store;
  /** The commit of a run's branch; null if it has none. */
  readonly commitOf: (run: Run) => Promise<string | null>;
  /** ISO 8601, UTC. */
  readonly now: () => string;
};

/** The version of everything that a person now sees of an item. */
export async function itemVersion(
  { commitOf }: Pick<Looking, "commitOf">,
  { run, version }: StoredRun,
): Promise<string> {
  return versionAt(version, await commitOf(run));
}

/** Undefined if the decision still fits. `commit` is the current head of the run's branch. */
export async function refuseMoved(
  looking: Looking,
  stored: StoredRun,
  item: InboxItem,
  seen: Seen,
  commit: string | null,
): Promise<AppProblem | undefined> {
  switch (seen.type) {
    case "anything":
      return undefined;
    case "unsaid":
      return item.kind === "gate" ? versionRequired(versionAt(stored.version, commit)) : undefined;
    case "commit":
      return otherCommit(stored, seen, commit);
    case "version":
      // A question stays the same under its number, whatever its agent does meanwhile.
      if (item.kind === "question") return undefined;
      return otherVersion(looking, stored, item, seen.version, commit);
  }
}

/** The commit that the caller looked at, or a prefix of it; null if there was none, undefined if any is meant. `commit` is there now. */
export function seenCommit(seen: Seen, commit: string | null): string | null | undefined {
  if (seen.type === "version") return seen.version.split("-")[1] ?? null;
  if (seen.type !== "commit" || (commit === null && seen.orNone)) return undefined;
  return seen.commit;
}

/** Events that do not void a decision. */
const BESIDE_THE_POINT: ReadonlySet<EventType> = new Set([
  "signal.ignored",
  "budget.warned",
  "usage.recorded",
  "run.stalled",
  "run.paused",
  "run.unpaused",
]);
const MAX_CHANGES = 50;

function versionAt(version: number, commit: string | null): string {
  return commit === null ? String(version) : `${version}-${commit.slice(0, 40)}`;
}

function versionRequired(current: string): AppProblem {
  return { code: "version_required", message: "A gate's answer needs the version that was looked at.", current };
}

function otherCommit(
  { run }: StoredRun,
  { commit, orNone }: Seen & { readonly type: "commit" },
  now: string | null,
): AppProblem | undefined {
  if (now === null ? orNone : now.startsWith(commit)) return undefined;
  const at = now === null ? "it has no commit" : `it is at ${now.slice(0, 12)}`;
  const message = `The work of ${run.subject.id} is not at ${commit} any more: ${at}.`;
  return { code: "version_mismatch", message, ...(now === null ? {} : { current: now }) };
}

async function otherVersion(
  { store, now }: Looking,
  stored: StoredRun,
  { kind, stage }: InboxItem,
  version: string,
  commitNow: string | null,
): Promise<AppProblem | undefined> {
  const current = versionAt(stored.version, commitNow);
  if (version === current) return undefined;
  const [events = "", commit = null] = version.split("-");
  const changed = /^[0-9]{1,15}$/.test(events) ? await since(store, stored, Number(events)) : undefined;
  const isSameCommit = commit === (commitNow?.slice(0, 40) ?? null);
  if (changed?.length === 0 && isSameCommit) return undefined;
  const moved = isSameCommit ? [] : [{ type: "commit.moved", at: now() }];
  return {
    code: "version_mismatch",
    message: `${kind} ${stage} was looked at as ${version}; it is ${current} now.`,
    hint: "Look at it again, then answer.",
    current,
    changed: [...(changed ?? []), ...moved],
  };
}

/** The events after the first `seen` ones; undefined if the run never had as many. */
async function since(
  store: Store,
  { run, version }: StoredRun,
  seen: number,
): Promise<readonly VersionChange[] | undefined> {
  if (seen > version || seen < 1) return undefined;
  const changed: VersionChange[] = [];
  for await (const { seq, version: number, event } of eventsOf(store, run.id)) {
    if (number <= seen || BESIDE_THE_POINT.has(event.type)) continue;
    changed.push({ type: event.type, at: event.at, seq, ...stageOf(event) });
    if (changed.length === MAX_CHANGES) return changed;
  }
  return changed;
}

function stageOf(event: RunEvent): { readonly stage?: string } {
  return "stage" in event ? { stage: event.stage } : {};
}
