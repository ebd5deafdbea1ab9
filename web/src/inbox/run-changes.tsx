// The changes of a run as the evidence of a decision, with agents' findings beside their lines. People read the question first: the diff loads
// after it is drawn, in a place that is kept for it.

import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { runQuery } from "../base/queries.ts";
import type { DiffReview } from "../diff/comments.ts";
import { findingsOf } from "../diff/findings.ts";
import { Panel } from "../ui/panel.tsx";
import { Loading } from "../ui/states.tsx";

const Changes = lazy(async () => ({ default: (await import("../diff/changes.tsx")).Changes }));

export function RunChanges({
  run: id,
  isExpected = true,
  review,
}: {
  readonly run: string;
  /** Whether an agent has worked: if so, a place is kept for the changes until they are there. */
  readonly isExpected?: boolean;
  /** Comments; absent if the decision takes none. */
  readonly review?: DiffReview & { readonly onReview: (change: Partial<DiffReview>) => void };
}): ReactNode {
  const run = useQuery(runQuery(id)).data;
  const attempts = useMemo(
    () =>
      (run?.stages ?? [])
        .flatMap((stage) => stage.attempts)
        .filter(({ commits, status }) => commits !== null || status === "done")
        .toSorted((a, b) => a.readyAt.localeCompare(b.readyAt)),
    [run?.stages],
  );
  const findings = useMemo(() => findingsOf(run?.stages ?? []), [run?.stages]);
  if (run === undefined ? !isExpected : attempts.length === 0) return null;
  return (
    <section id="changes" className="scroll-mt-4">
      <Panel title="Changes">
        <div className="min-h-96">
          <Suspense fallback={<Loading what="changes" />}>
            {run === undefined ? (
              <Loading what="changes" />
            ) : (
              <Changes
                run={id}
                attempts={attempts}
                findings={findings}
                {...(review === undefined ? {} : { review, onReview: review.onReview })}
              />
            )}
          </Suspense>
        </div>
      </Panel>
    </section>
  );
}
