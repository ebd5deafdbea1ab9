// The limits of a flow that an operator may change without a copy of its file: how often it goes back, and when a handoff is late.

import { optional } from "../optional.ts";
import { err, ok, type Result } from "../result.ts";
import type { Flow } from "./flow.ts";

export type FlowLimits = {
  /** By counter; null: no limit. */
  readonly loops: Readonly<Record<string, number | null>>;
  readonly staleAfterMs?: number;
  readonly leaseMs?: number;
};

/** The flow with these limits; the same object if there are none. */
export function withFlowLimits(flow: Flow, limits: FlowLimits | undefined): Result<Flow> {
  if (limits === undefined) return ok(flow);
  const unknown = Object.keys(limits.loops).find((name) => flow.counters[name] === undefined);
  if (unknown !== undefined)
    return err({
      code: "invalid_setting",
      message: `flows.${flow.name}.loops: the flow has no counter "${unknown}"`,
      hint: `its counters: ${Object.keys(flow.counters).join(", ") || "none"}`,
    });
  const counters = Object.fromEntries(
    Object.entries(flow.counters).map(([name, counter]) => {
      const maxLoops = limits.loops[name];
      return [name, maxLoops === undefined ? counter : { ...counter, maxLoops }];
    }),
  );
  const { staleAfterMs, leaseMs } = limits;
  return ok({ ...flow, counters, handoffs: { ...flow.handoffs, ...optional({ staleAfterMs, leaseMs }) } });
}
