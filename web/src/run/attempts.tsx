// Below the timeline: every attempt with its verdict and files, the handoffs between stages, and the cost of each.

import type { ReactNode } from "react";
import { CostTab } from "./cost-tab.tsx";
import { Handoffs } from "./handoffs.tsx";
import { StagesTab } from "./stages-tab.tsx";
import type { RunDetail } from "./types.ts";

export function Attempts({
  run,
  selected,
}: {
  readonly run: RunDetail;
  readonly selected: string | undefined;
}): ReactNode {
  return (
    <>
      <StagesTab run={run} selected={selected} />
      <Handoffs run={run} stage={selected} />
      <section className="flex flex-col gap-2">
        <h3 className="text-base font-semibold">Cost</h3>
        <CostTab run={run} />
      </section>
    </>
  );
}
