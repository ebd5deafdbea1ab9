// `accept`, `reject`, `timeout` and `cleanup`: the end of a created handoff. A request that comes too late changes nothing; its refusal
// shows the handoff's current state.

import type { Refusal } from "../../../contract/problem.ts";
import type { HandoffAction } from "../../../contract/schemas/handoff-action.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { outwardStatus } from "../../../../core/view/story.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import { isEnded, type Run } from "../../../../core/run/run.ts";
import { leaseUntil } from "../../../../core/run/lease.ts";
import { judge } from "../../../../core/verdict/judge.ts";
import type { HandoffRow } from "../../../../store/store.ts";
import { actorOf } from "../../actor.ts";
import { reaches } from "../../agent-reach.ts";
import { allEvents } from "../../../../app/find-run.ts";
import { acceptedFacts, acceptedWith } from "../../../../core/view/handoff-row.ts";
import { refusePayload } from "./create.ts";
import { type Asking, deliver, wasDone } from "./deliver.ts";
import { redactJson } from "../../../../core/secrets/redact-json.ts";
import { notesOf, refuseReview } from "./findings.ts";
import { inboxOf, type Story } from "./story.ts";
import { findTurn, FOREIGN, finishOf, reportOf } from "./turn.ts";
import { optional } from "../../../../core/optional.ts";

type Action<A extends HandoffAction["action"]> = Extract<HandoffAction, { readonly action: A }>;

export async function acceptHandoff(asking: Asking, { handoffId, payload }: Action<"accept">) {
  const found = await findHandoff(asking, handoffId);
  if (!found.ok) return found;
  const { row, story } = found.value;
  const refused = refusePayload(payload);
  if (refused !== undefined) return err(refused);
  if (await wasDone(asking, row.runId)) {
    if (row.state === "pending" || row.state === "expired") return err(REUSED);
    if (payload !== undefined) await keepLost(asking, row, payload as JsonObject);
    return taken(asking, row);
  }
  if (row.state !== "pending") return err(await notOpen(asking, row));
  const turn = findTurn(story, asking.principal, row.toAgent ?? "nobody", (_, track) => brings(track, row));
  if (!turn.ok) return turn;
  const { stage, track, actor } = turn.value;
  const { attempt } = track;
  const after = await deliver(
    asking,
    story,
    { type: "attempt.started", stage: stage.id, attempt, outside: true },
    actor,
  );
  if (!after.ok) return after;
  if (payload !== undefined)
    await asking.deps.store.noteAttempt(
      row.runId,
      stage.id,
      attempt,
      acceptedFacts(row.number, redactJson(payload as JsonObject, asking.deps.redact)),
    );
  const accepted = await again(asking, row);
  return ok({
    ...(await taken(asking, accepted)).value,
    leaseUntil: leaseUntil(story.resolved.flow, accepted.processedAt ?? asking.deps.now(), null),
  });
}

/** The start is stored first. A crash after that can lose the payload that came with it, so the repeated request stores it. */
async function keepLost({ deps: { redact, store } }: Asking, { runId, number }: HandoffRow, payload: JsonObject) {
  if (acceptedWith(await store.attempts(runId)).has(number)) return;
  const events = await allEvents(store, runId);
  const accepted = events.findIndex((event) => event.type === "handoff.accepted" && event.number === number);
  const started = events.slice(0, Math.max(accepted, 0)).findLast((event) => event.type === "stage.started");
  if (started !== undefined)
    await store.noteAttempt(runId, started.stage, started.attempt, acceptedFacts(number, redactJson(payload, redact)));
}

export async function rejectHandoff(asking: Asking, { handoffId, reason, findings }: Action<"reject">) {
  const found = await findHandoff(asking, handoffId);
  if (!found.ok) return found;
  const { row, story } = found.value;
  const { run, resolved } = story;
  if (await wasDone(asking, row.runId))
    return row.state === "rejected" ? sentBack(asking, run, row, row.number) : err(REUSED);
  if (row.state !== "pending" && row.state !== "accepted") return err(await notOpen(asking, row));
  const turn = findTurn(story, asking.principal, row.toAgent ?? "nobody", (_, track) => brings(track, row));
  if (!turn.ok)
    return row.state === "pending" || asking.principal.kind === "attempt" ? turn : err(await orNotOpen(turn.error));
  const { stage, actor } = turn.value;
  const said = { reason, summary: reason, issues: [reason], ...notesOf(findings) };
  const report = reportOf(resolved.flow, stage, "revise", said);
  const unanswered = refuseReview(run, stage, judge(resolved.flow.words, stage, report));
  if (unanswered !== undefined) return err(unanswered);
  const after = await deliver(asking, story, finishOf(turn.value, report), actor);
  if (!after.ok) return after;
  return sentBack(asking, after.value, await again(asking, row), run.handoffs);

  async function orNotOpen(refusal: Refusal): Promise<Refusal> {
    return refusal.code === "out_of_turn" ? notOpen(asking, row) : refusal;
  }
}

export async function timeOutHandoff(asking: Asking, { handoffId, reason }: Action<"timeout">) {
  if (asking.principal.kind !== "operator") return err(FOREIGN);
  const found = await findHandoff(asking, handoffId);
  if (!found.ok) return found;
  const { row, story } = found.value;
  if (await wasDone(asking, row.runId)) return row.state === "expired" ? taken(asking, row) : err(REUSED);
  if (row.state !== "pending") return err(await notOpen(asking, row));
  const said = reason === undefined || reason.trim() === "" ? "Agent timed out" : reason;
  const expired = await expire(asking, story, row, said, "route");
  return expired.ok ? taken(asking, await again(asking, row)) : expired;
}

export async function cleanUpHandoffs(asking: Asking, { storyId }: Action<"cleanup">) {
  if (asking.principal.kind !== "operator") return err(FOREIGN);
  const found = await asking.stories.require(storyId, asking.principal);
  if (!found.ok) return found;
  const deleted = await closePending(asking, found.value, "Cleaned up");
  return ok({ success: true as const, deleted });
}

/** Closes the pending handoffs of a story; returns their number, including those that the same request closed earlier. */
export async function closePending(asking: Asking, story: Story, reason: string): Promise<number> {
  let closed = 0;
  for (const row of await asking.stories.rowsOf(story.run)) {
    if (row.state === "expired" && (await wasDone(asking, row.runId, `:${row.number}`))) closed += 1;
    if (row.state !== "pending" || isEnded(story.run)) continue;
    const now = (await asking.stories.ofRun(row.runId)) ?? story;
    const expired = await expire(asking, now, row, reason, "stop", `:${row.number}`);
    if (expired.ok) closed += 1;
  }
  return closed;
}

export async function expire(
  asking: Asking,
  story: Story,
  { number }: HandoffRow,
  reason: string,
  then: "route" | "stop",
  part = "",
): Promise<Result<Run, Refusal>> {
  const actor = actorOf(asking.principal);
  // oxlint-disable-next-line no-thenable -- the signal's own name for what comes after; never awaited
  return deliver(asking, story, { type: "handoff.expired", number, reason, then }, actor, part);
}

/** This run has applied the key to a different act. */
const REUSED: Refusal = {
  code: "idempotency_key_reused",
  detail: "This Idempotency-Key was sent with another request before.",
  hint: "Make a new key for every new request.",
};

type Found = { readonly row: HandoffRow; readonly story: Story };

/** An attempt gets the same refusal for another story's handoff and for one that does not exist. */
export async function findHandoff(asking: Asking, id: number): Promise<Result<Found, Refusal>> {
  const { principal, stories } = asking;
  const [row] = await stories.rows({ id });
  const story = row === undefined ? undefined : await stories.ofRun(row.runId);
  if (principal.kind === "attempt" && row?.runId !== principal.runId) return err(FOREIGN);
  if (row === undefined || story === undefined || !reaches(principal, story))
    return err({ code: "handoff_not_found", detail: `There is no handoff ${id}.`, pointer: "/handoffId" });
  return ok({ row, story });
}

export function brings(track: { readonly carry: { readonly handoff: number } }, { number }: HandoffRow): boolean {
  return track.carry.handoff === number;
}

async function again({ stories }: Asking, row: HandoffRow): Promise<HandoffRow> {
  const [now = row] = await stories.rows({ id: row.id });
  return now;
}

export async function taken({ stories }: Asking, row: HandoffRow) {
  const [handoff] = await stories.show([row]);
  if (handoff === undefined) throw new Error("a row is shown as a row");
  return { ok: true as const, value: { success: true as const, handoff } };
}

/** The handoff that was rejected, and the one that brings the work back: the first that its receiver made after `before`. */
async function sentBack(asking: Asking, run: Run, row: HandoffRow, before: number) {
  const rows = await asking.stories.rowsOf(run);
  const made = rows.find(
    ({ number, fromAgent, toAgent }) => number > before && fromAgent === row.toAgent && toAgent === row.fromAgent,
  );
  const [handoff, returned = null] = await asking.stories.show(made === undefined ? [row] : [row, made]);
  if (handoff === undefined) throw new Error("a row is shown as a row");
  return ok({ success: true as const, handoff, returned, inbox: inboxOf(run) });
}

export async function notOpen({ stories }: Asking, row: HandoffRow): Promise<Refusal> {
  const [handoff] = await stories.show([row]);
  const how = row.state === "done" ? "accepted, and its receiver has handed the work on" : outwardStatus(row.state);
  return {
    code: "handoff_not_open",
    detail: `Handoff ${row.id} is ${how}${row.processedAt === null ? "" : ` since ${row.processedAt}`}; nothing was changed.`,
    ...optional({ handoff }),
  };
}
