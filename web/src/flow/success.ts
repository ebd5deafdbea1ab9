// The success rate of a flow in words. Open runs do not count; without an ended run there is no rate.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type FlowResults = AnswerTo<"flowStats">;

export function successOf({ completed, canceled, stopped }: FlowResults): { rate: string; of: string } {
  const ended = completed + canceled + stopped;
  if (ended === 0) return { rate: "—", of: "no run has ended yet" };
  const rate = Math.round((completed / ended) * 100);
  const bad = [
    ...(stopped === 0 ? [] : [`${stopped} stopped`]),
    ...(canceled === 0 ? [] : [`${canceled} canceled`]),
  ].join(", ");
  return { rate: `${rate} %`, of: `${completed} of ${ended} succeeded${bad === "" ? "" : ` (${bad})`}` };
}
