// The live stream for programs: each message is checked against the contract. If the daemon cannot replay missed events, the caller gets
// `reset`.

import { z } from "zod";
import { ROUTES } from "../contract/routes.ts";
import { eventPageSchema } from "../contract/schemas/event.ts";
import { addressOf } from "./address.ts";
import type { ApiProblem } from "./answer.ts";
import { followMessages, type FollowOptions, type StreamSource } from "./follow.ts";
import { problemIn } from "./schema-checks.ts";
import type { SseMessage } from "./sse.ts";

const [eventSchema, handoffSchema, resetSchema] = [
  eventPageSchema.shape.events.element,
  z.object({ storyId: z.string(), handoffId: z.int(), status: z.string() }),
  z.object({ reason: z.string(), seq: z.int() }),
];

export type Followed =
  | { readonly type: "event"; readonly id: string; readonly name: string; readonly data: z.output<typeof eventSchema> }
  | { readonly type: "handoff"; readonly id: string; readonly data: z.output<typeof handoffSchema> }
  /** The daemon cannot replay the missed events: load the state again. The stream continues after `seq`. */
  | { readonly type: "reset"; readonly id: string; readonly data: z.output<typeof resetSchema> }
  /** The last one: the daemon refuses this caller. */
  | { readonly type: "refused"; readonly problem: ApiProblem };

const EVENTS = addressOf(ROUTES.events);

export async function* followEvents(
  source: Pick<StreamSource, "base" | "token" | "send">,
  options: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  for await (const step of followMessages({ ...source, address: EVENTS, problemIn }, options)) {
    const followed = step.type === "refused" ? step : toFollowed(step.message);
    if (followed !== undefined) yield followed;
  }
}

/** Undefined for a message of a newer daemon whose form is unknown here. */
function toFollowed({ id, name, data }: SseMessage): Followed | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (name === "reset") {
    const reset = resetSchema.safeParse(value);
    return reset.success ? { type: "reset", id, data: reset.data } : undefined;
  }
  if (name === "handoff") {
    const handoff = handoffSchema.safeParse(value);
    return handoff.success ? { type: "handoff", id, data: handoff.data } : undefined;
  }
  return eventSchema.safeParse(value).success
    ? { type: "event", id, name, data: value as z.output<typeof eventSchema> }
    : undefined;
}
