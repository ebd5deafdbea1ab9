// Badges from a ticket's file: variant, priority, conflict with the run, problems.

import type { ReactNode } from "react";
import type { ListedFile } from "./listed-ticket.ts";
import { plain } from "../base/plain-text.ts";
import { Badge } from "../ui/status-badge.tsx";
import { Icon } from "../ui/icon.tsx";

export function FileBadges({ file }: { readonly file: ListedFile }): ReactNode {
  const { group, variantHint, conflict, problems, priority } = file;
  return (
    <>
      {group !== null && (
        <Badge
          title={`Variant of the group ${plain(group, 60)}${variantHint === null ? "" : `: ${plain(variantHint)}`}`}
        >
          <span aria-hidden="true">⋔</span>
          <span className="max-w-40 min-w-0 truncate">{plain(variantHint ?? group, 40)}</span>
        </Badge>
      )}
      {priority !== null && <Badge title="Priority; lower comes first">P{priority}</Badge>}
      {conflict !== null && (
        <Badge tone="warning" title={`Its run says ${plain(conflict)}; its file says ${plain(file.status)}`}>
          <Icon name="warning" /> Conflict
        </Badge>
      )}
      {problems.length > 0 && (
        <Badge
          tone={problems.some(({ severity }) => severity === "refused") ? "bad" : "warning"}
          title={plain(problems[0]?.message ?? "", 200)}
        >
          <Icon name="warning" /> {problems.length === 1 ? "1 problem" : `${problems.length} problems`}
        </Badge>
      )}
    </>
  );
}
