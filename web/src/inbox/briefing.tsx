// The plan of a run, at the gate before its first stage: stages and their runners, expected cost, files with their hashes,
// repositories, and the plan's contracts.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { costText } from "../../../src/core/view/cost-text.ts";
import { itemQuery } from "../base/queries.ts";
import { Panel } from "../ui/panel.tsx";
import { PlannedStages } from "../ui/planned-stages.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import type { ItemBriefing } from "./types.ts";
import { tip } from "../ui/tip.ts";

export function Briefing({ item }: { readonly item: string }): ReactNode {
  const briefing = useQuery(itemQuery(item)).data?.briefing ?? null;
  if (briefing === null) return null;
  const { stages, files, repositories, contracts, usd, unknown } = briefing;
  return (
    <Panel title="What will run">
      <div className="flex flex-col gap-3 text-sm">
        <PlannedStages stages={stages} />
        <p>
          <span className="text-muted">Expected cost, one attempt each: </span>
          {costText(usd, unknown)}
        </p>
        {files.length > 0 && <Files files={files} />}
        {repositories.length > 0 && <Repositories repositories={repositories} />}
        {contracts !== null && (
          <details>
            <summary className="min-h-9 cursor-pointer py-1.5 text-muted pointer-coarse:min-h-11">
              Contracts in the plan
            </summary>
            <pre className="whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">
              <SafeText max={5000}>{contracts}</SafeText>
            </pre>
          </details>
        )}
      </div>
    </Panel>
  );
}

function Files({ files }: { readonly files: ItemBriefing["files"] }): ReactNode {
  return (
    <ul aria-label="Files" className="flex flex-col gap-0.5">
      {files.map(({ name, path, sha256, bytes }) => (
        <li key={path} className="[overflow-wrap:anywhere]">
          <span className="text-muted">{name ?? "rules"} </span>
          <code className="font-mono text-xs">
            <SafeText max={500}>{path}</SafeText>
          </code>
          <span className="text-muted">
            {" "}
            {bytes} bytes, sha256{" "}
            <code className="font-mono text-xs" {...tip(sha256)}>
              {sha256.slice(0, 12)}
            </code>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Repositories({ repositories }: { readonly repositories: ItemBriefing["repositories"] }): ReactNode {
  return (
    <ul aria-label="Repositories" className="flex flex-col gap-0.5">
      {repositories.map(({ name, dir, branch, commit, dirty }) => (
        <li key={dir} className="[overflow-wrap:anywhere]">
          <span className="text-muted">{name} </span>
          <SafeText max={500}>{`${dir} on ${branch ?? "no branch"}`}</SafeText>{" "}
          <code className="font-mono text-xs">{commit.slice(0, 12)}</code>
          {dirty > 0 && <span className="text-warning"> {dirty} uncommitted files left out</span>}
        </li>
      ))}
    </ul>
  );
}
