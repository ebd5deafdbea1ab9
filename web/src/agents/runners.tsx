// The programs on this machine that can play agents: which are installed, which are logged in, and the command that fixes a missing one.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { runnersQuery } from "./queries.ts";
import { Icon } from "../ui/icon.tsx";

type Runner = AnswerTo<"listRunners">["runners"][number];

export function Runners(): ReactNode {
  const { data, error, refetch } = useQuery(runnersQuery);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined || (data.runners.length === 0 && data.checking)) return <Loading what="programs" />;
  return (
    <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      {data.runners.map((runner) => (
        <li key={runner.runner} className="flex min-w-0 flex-col gap-1.5 rounded-md border border-line p-3 text-sm">
          <span className="flex flex-wrap items-center justify-between gap-2">
            <strong>{runner.runner}</strong>
            <Standing runner={runner} />
          </span>
          {runner.path !== null && (
            <span className="font-mono text-xs break-all text-muted">
              <SafeText max={300}>{runner.path}</SafeText>
              {runner.version !== null && (
                <>
                  {" · "}
                  <SafeText max={80}>{runner.version}</SafeText>
                </>
              )}
            </span>
          )}
          <span className="line-clamp-3 text-xs wrap-anywhere text-muted">
            <SafeText max={300}>{runner.evidence}</SafeText>
          </span>
          {runner.fix !== "" && <CopyLine>{runner.fix}</CopyLine>}
        </li>
      ))}
      {data.runners.length === 0 && <li className="text-sm text-muted">No programs found.</li>}
    </ul>
  );
}

function Standing({ runner: { found, login } }: { readonly runner: Runner }): ReactNode {
  if (!found)
    return (
      <Badge tone="quiet">
        <Icon name="circle" /> not found
      </Badge>
    );
  if (login === "yes")
    return (
      <Badge tone="good">
        <Icon name="check" /> ready
      </Badge>
    );
  return login === "no" ? (
    <Badge tone="attention">
      <Icon name="warning" /> not logged in
    </Badge>
  ) : (
    <Badge tone="quiet">
      <Icon name="question" /> login unknown
    </Badge>
  );
}
