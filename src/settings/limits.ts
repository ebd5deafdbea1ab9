// How long attempts may take, by stage: overrides the flows, so that a user need not copy a flow to give a stage more time.

import { z } from "zod";
import type { AttemptLimitsFact } from "../core/flow/attempt-limits.ts";
import { durationMs } from "../core/flow/duration.ts";
import { optional } from "../core/optional.ts";
import { settingsDuration as duration } from "./duration.ts";

const limits = z.strictObject({
  /** The whole attempt. */
  total: duration.optional(),
  /** No further output for this long. */
  idle: duration.optional(),
  /** No output at all for this long. */
  startup: duration.optional(),
  /** A request for permission waits this long for a person. */
  permission: duration.optional(),
  /** A question of an agent waits this long for an answer in place. */
  question: duration.optional(),
});

/** By the stage's id; `*` is for all stages. */
export const limitsSchema = z.record(z.string().regex(/^(\*|[a-z][a-z0-9-]{0,47})$/u), limits);

export type LimitSettings = Readonly<Record<string, AttemptLimitsFact>>;

/** The nearer file wins key by key. */
export function limitSettings(files: readonly (z.infer<typeof limitsSchema> | undefined)[]): LimitSettings {
  const stages = new Set(files.flatMap((file) => Object.keys(file ?? {})));
  return Object.fromEntries(
    [...stages].map((stage) => {
      const said = files.toReversed().reduce<z.infer<typeof limits>>((far, near) => ({ ...far, ...near?.[stage] }), {});
      const ms = (text: string | undefined) => (text === undefined ? undefined : durationMs(text));
      const { total, idle, startup, permission, question } = said;
      const silences = { totalMs: ms(total), idleMs: ms(idle), startupMs: ms(startup) };
      return [stage, optional({ ...silences, permissionMs: ms(permission), questionMs: ms(question) })];
    }),
  );
}
