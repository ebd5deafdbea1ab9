// How what a caller wants of a story reaches the engine: tried out first, so that what does not fit leaves no trace; one at a time per
// story, so that of many who want the same one wins and the others see what it did.

import type { Refusal } from "../../../contract/problem.ts";
import type { Actor } from "../../../../core/run/event.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import type { Run } from "../../../../core/run/run.ts";
import type { SignalBody } from "../../../../core/run/signal.ts";
import { transition } from "../../../../core/run/transition.ts";
import type { ServerParts } from "../../parts.ts";
import type { Principal } from "../../principal.ts";
import type { Stories, Story } from "./story.ts";

/** Who asks, and with what. */
export type Asking = {
  readonly parts: ServerParts;
  readonly stories: Stories;
  readonly principal: Principal;
  /** Stays the same when the caller repeats itself. */
  readonly wish?: string;
};

/** A change of one run; `part` tells apart the signals of one wish. */
export async function deliver(
  { parts, wish }: Asking,
  { run, resolved }: Story,
  body: SignalBody,
  actor: Actor,
  part = "",
): Promise<Result<Run, Refusal>> {
  const tried = transition(resolved.flow, run, { ...body, id: "", at: parts.now(), actor }).ignored;
  const delivery =
    tried === undefined ? await parts.engine.deliver(run.id, body, actor, signalId(wish, part)) : undefined;
  const ignored = tried ?? delivery?.ignored;
  if (ignored !== undefined || delivery === undefined)
    return err({ code: "out_of_turn", detail: `${run.subject.id}: ${ignored ?? "it does not fit"}.` });
  return ok(delivery.run);
}

/** Whether the same wish was carried out before, perhaps before a restart. */
export async function wasDone({ parts, wish }: Asking, runId: string, part = ""): Promise<boolean> {
  const id = signalId(wish, part);
  return id !== undefined && (await parts.store.hasSignal(runId, id));
}

function signalId(wish: string | undefined, part: string): string | undefined {
  return wish === undefined ? undefined : `wish:${wish}${part}`;
}
