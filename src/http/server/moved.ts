// A decision is bound to what the person saw: the run's events up to then, and the commit. What has happened since voids it, except for
// events that say nothing about the work.

import type { ProblemDocument, Refusal } from "../contract/problem.ts";
import type { EventType, RunEvent } from "../../core/run/event.ts";
import type { InboxItem } from "../../core/run/run.ts";
import type { StoredRun } from "../../store/store.ts";
import { itemVersion } from "./find-run.ts";
import type { ServerParts } from "./parts.ts";

/** Nobody decides otherwise because of these. */
const BESIDE_THE_POINT: ReadonlySet<EventType> = new Set([
  "signal.ignored",
  "budget.warned",
  "usage.recorded",
  "run.stalled",
]);
const TOLD_AT_MOST = 50;

type Seen = { readonly stored: StoredRun; readonly item: InboxItem; readonly ifMatch?: string };

export async function refuseMoved(parts: ServerParts, { stored, item, ifMatch }: Seen): Promise<Refusal | undefined> {
  if (ifMatch === "*") return undefined;
  const current = await itemVersion(parts, stored);
  if (ifMatch === undefined) {
    if (item.kind !== "gate") return undefined;
    return {
      code: "version_required",
      detail: "A gate's answer needs the version that was looked at.",
      hint: `If-Match: "${current}" for what it is now (GET the item shows it), * for whatever it is`,
      current,
    };
  }
  if (ifMatch === current) return undefined;
  const [events = "", commit = null] = ifMatch.split("-");
  const changed = /^[0-9]{1,15}$/.test(events) ? await since(parts, stored, Number(events)) : undefined;
  const [, commitNow = null] = current.split("-");
  if (changed?.length === 0 && commit === commitNow) return undefined;
  const moved = commit === commitNow ? [] : [{ type: "commit.moved", at: parts.now() }];
  return {
    code: "version_mismatch",
    detail: `${item.kind} ${item.stage} was looked at as ${ifMatch}; it is ${current} now.`,
    hint: "Look at it again, then answer.",
    current,
    changed: [...(changed ?? []), ...moved],
    headers: { etag: `"${current}"` },
  };
}

/** What happened after the run had this many events; undefined where it never had as many. */
async function since(
  { store }: ServerParts,
  { run, version }: StoredRun,
  seen: number,
): Promise<NonNullable<ProblemDocument["changed"]> | undefined> {
  if (seen > version || seen < 1) return undefined;
  const changed: NonNullable<ProblemDocument["changed"]> = [];
  for (let after = 0; ; ) {
    const events = await store.events({ runId: run.id, after, limit: 500 });
    for (const { seq, version: number, event } of events) {
      if (number <= seen || BESIDE_THE_POINT.has(event.type) || changed.length >= TOLD_AT_MOST) continue;
      changed.push({ type: event.type, at: event.at, seq, ...stageOf(event) });
    }
    const last = events.at(-1);
    if (events.length < 500 || last === undefined) return changed;
    after = last.seq;
  }
}

function stageOf(event: RunEvent): { readonly stage?: string } {
  return "stage" in event ? { stage: event.stage } : {};
}
