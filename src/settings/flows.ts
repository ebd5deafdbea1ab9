// Limits of flows, by the flow's name: they win over its file, so that a user need not copy a flow to allow one loop more.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import type { FlowLimits } from "../core/flow/flow-limits.ts";
import { optional } from "../core/optional.ts";
import { settingsDuration as duration } from "./duration.ts";

const limits = z.strictObject({
  /** Counter -> loops; `none`: no limit. */
  loops: z.record(z.string().min(1).max(60), z.union([z.int().min(0).max(1000), z.literal("none")])).optional(),
  /** When an open handoff is stale. */
  stale_after: duration.optional(),
  /** When work that an outside agent took is taken back. */
  lease: duration.optional(),
});

export const flowsSchema = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,59}$/u), limits);

export type FlowSettings = Readonly<Record<string, FlowLimits>>;

/** The nearer file wins key by key. */
export function flowSettings(files: readonly (z.infer<typeof flowsSchema> | undefined)[]): FlowSettings {
  const far = files.toReversed();
  const names = new Set(files.flatMap((file) => Object.keys(file ?? {})));
  return Object.fromEntries(
    [...names].map((name) => {
      const said = far.reduce<z.infer<typeof limits>>((all, file) => ({ ...all, ...file?.[name] }), {});
      const loops = Object.assign({}, ...far.map((file) => file?.[name]?.loops)) as NonNullable<typeof said.loops>;
      const ms = (text: string | undefined) => (text === undefined ? undefined : durationMs(text));
      return [
        name,
        {
          loops: Object.fromEntries(Object.entries(loops).map(([each, max]) => [each, max === "none" ? null : max])),
          ...optional({ staleAfterMs: ms(said.stale_after), leaseMs: ms(said.lease) }),
        },
      ];
    }),
  );
}
