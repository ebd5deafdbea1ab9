import type { ReactNode } from "react";
import { useLiveState } from "../base/live/live.ts";
import { duration, useNow } from "../ui/time.tsx";

/** Whether the page is live, or how long its data has been stale. */
export function LiveMark(): ReactNode {
  const state = useLiveState();
  const now = useNow(1000);
  switch (state.is) {
    case "live":
      return (
        <span role="status" className="text-good">
          ● Live
        </span>
      );
    case "connecting":
      return <span role="status">○ Connecting</span>;
    case "reconnecting":
      return (
        <span role="status" className="text-attention">
          ◌ Reconnecting, stale for {duration(now - state.since)}
        </span>
      );
    case "refused":
      return (
        <span role="status" className="text-bad">
          ✖ {state.why}
        </span>
      );
  }
}
