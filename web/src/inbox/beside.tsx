// A decision, and its evidence beside it. The decision stays in sight while the evidence scrolls; where there is no room for
// both, the buttons are a bar at the bottom.

import type { ReactNode } from "react";

export function Beside({
  id,
  label,
  head,
  verbs,
  after,
  evidence,
}: {
  /** Keys that decide do so only while the focus is inside. */
  readonly id: string;
  readonly label: string;
  readonly head: ReactNode;
  readonly verbs: ReactNode;
  /** Below the buttons: the effect of each. */
  readonly after?: ReactNode;
  readonly evidence: ReactNode;
}): ReactNode {
  return (
    <div className="@container min-w-0">
      <div className="flex min-w-0 flex-col gap-4 @min-[44rem]:grid @min-[44rem]:grid-cols-[minmax(0,1fr)_18rem] @min-[44rem]:items-start @min-[44rem]:gap-6 @min-[64rem]:grid-cols-[minmax(0,1fr)_21rem]">
        <div
          data-decision={id}
          className="contents @min-[44rem]:sticky @min-[44rem]:top-6 @min-[44rem]:col-start-2 @min-[44rem]:row-start-1 @min-[44rem]:flex @min-[44rem]:max-h-[calc(100dvh-3rem)] @min-[44rem]:flex-col @min-[44rem]:gap-4 @min-[44rem]:overflow-y-auto @min-[44rem]:p-0.5"
        >
          {head}
          <section
            aria-label={label}
            className="flex flex-col gap-3 @max-[44rem]:order-last @max-[44rem]:sticky @max-[44rem]:bottom-0 @max-[44rem]:z-20 @max-[44rem]:-mx-4 @max-[44rem]:border-t @max-[44rem]:border-line @max-[44rem]:bg-page @max-[44rem]:px-4 @max-[44rem]:py-3 max-md:bottom-(--tabs)!"
          >
            {verbs}
          </section>
          {after}
        </div>
        <div className="flex min-w-0 flex-col gap-4 @min-[44rem]:col-start-1 @min-[44rem]:row-start-1">{evidence}</div>
      </div>
    </div>
  );
}
