// A worker's reports about its agent's session. Hooks and the log need four kinds of events; every other one is only a sign of
// life. How far a login has used its vendor's limits stays with the worker: the login is the worker's own.

import { z } from "zod";

const id = z.string().max(500);
const text = z.string().max(20_000);

export const observedSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("tool.called"), id, name: id, input: text }),
  z.strictObject({ type: z.literal("session.ended"), id: id.nullable(), reason: text }),
  z.strictObject({ type: z.literal("teammate.idle"), id, name: id }),
  z.strictObject({ type: z.literal("task.completed"), id, name: id, status: id, text }),
  z.strictObject({ type: z.literal("unknown"), name: id }),
]);
export type ObservedThere = z.infer<typeof observedSchema>;

/** The event as a worker passes it on. */
export function observedThere(event: { readonly type: string }): ObservedThere {
  const known = observedSchema.safeParse(event);
  return known.success ? known.data : { type: "unknown", name: event.type.slice(0, 500) };
}
