// The containment of the agents' programs: a missing sandbox is a warning, a sandbox is good.

import type { ReactNode } from "react";
import { type Containment, containedStages } from "../../../src/core/view/containment.ts";
import { Badge } from "./status-badge.tsx";

const WITHOUT = "The program ran as the user who runs Passrail: it could reach everything that this user can.";

export function ContainmentBadge({ containment }: { readonly containment: Containment | null }): ReactNode {
  if (containment === null) return null;
  const { isConfined, label } = containment;
  return (
    <Badge wraps tone={isConfined ? "good" : "warning"} {...(isConfined ? {} : { title: WITHOUT })}>
      {label}
    </Badge>
  );
}

/** One line for all stages behind a decision. */
export function ContainedBy({
  ran,
}: {
  readonly ran: readonly { readonly stage: string; readonly containment: Containment | null }[];
}): ReactNode {
  const kinds = containedStages(ran);
  if (kinds.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="text-muted">Containment</span>
      {kinds.map((kind) => (
        <span key={kind.label} className="inline-flex flex-wrap items-center gap-1.5">
          <ContainmentBadge containment={kind} />
          {kinds.length > 1 && <span className="text-muted">{kind.stages.join(", ")}</span>}
        </span>
      ))}
    </div>
  );
}
