// `heartbeat`: the receiver of an accepted handoff shows that it is at work, and keeps the work for another lease.

import { leaseUntil } from "../../../../core/run/lease.ts";
import { err, ok } from "../../../../core/result.ts";
import type { HandoffAction } from "../../../contract/schemas/handoff-action.ts";
import type { Asking } from "./deliver.ts";
import { brings, findHandoff, notOpen, taken } from "./process.ts";
import { findTurn } from "./turn.ts";

type Wanted = Extract<HandoffAction, { readonly action: "heartbeat" }>;

export async function keepHandoff(asking: Asking, { handoffId }: Wanted) {
  const found = await findHandoff(asking, handoffId);
  if (!found.ok) return found;
  const { row, story } = found.value;
  if (row.state !== "accepted") return err(await notOpen(asking, row));
  const turn = findTurn(story, asking.principal, row.toAgent ?? "nobody", (_, track) => brings(track, row));
  if (!turn.ok) return turn;
  const { stage, track } = turn.value;
  const at = asking.deps.now();
  await asking.deps.store.noteAttempt(row.runId, stage.id, track.attempt, { heartbeat: { at } });
  const until = leaseUntil(story.resolved.flow, track.since, at);
  return ok({ ...(await taken(asking, row)).value, leaseUntil: until });
}
