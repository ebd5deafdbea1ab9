// Checks behind a decision, in three separate groups: checks that Passrail ran, checks that agents report, and Passrail's measurements of
// each attempt. If Passrail ran none, the page says so.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { itemQuery } from "../base/queries.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { ContainedBy, ContainmentBadge } from "../ui/containment-badge.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { EvidenceTable } from "./evidence-table.tsx";
import type { Evidence } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

type Stage = Evidence["stages"][number];

export function Checks({ item }: { readonly item: string }): ReactNode {
  const { data } = useQuery(itemQuery(item));
  const stages = data?.evidence.stages ?? [];
  const marked = data?.evidence.marked ?? [];
  // No agent has worked yet.
  if (stages.length === 0) return null;
  const table = data?.evidence.table ?? [];
  const ran = stages.filter(({ by }) => by === "check");
  const hasRun = ran.length > 0 || table.some(({ state }) => state === "run");
  const reporting = stages.filter(({ reported }) => reported.length > 0);
  const warned = stages.filter(({ warnings, isRepaired }) => warnings.length > 0 || isRepaired);
  return (
    <section aria-label="Checks" className="flex flex-col gap-1.5 text-sm">
      <Marked marked={marked} />
      <ContainedBy ran={stages} />
      {(ran.length > 0 || !hasRun) && (
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="text-muted">Checks run by Passrail</span>
          {ran.map((stage) => (
            <Check key={stage.stage} name={stage.stage} isGood={stage.exitCode === 0} line={exitText(stage)} />
          ))}
          {!hasRun && <span>none: Passrail ran no test, build or linter.</span>}
        </div>
      )}
      <EvidenceTable lines={table} />
      {reporting.map((stage) => (
        <Reported key={stage.stage} stage={stage} stages={stages} />
      ))}
      {warned.length > 0 && (
        <ul className="flex flex-col gap-0.5 text-warning">
          {warned.flatMap(({ stage, attempt, warnings, isRepaired }) =>
            [...warnings, ...(isRepaired && warnings.length === 0 ? [REPAIRED] : [])].map((text) => (
              <li key={`${stage} ${text}`} className="[overflow-wrap:anywhere]">
                <Icon name="warning" className="mr-1 inline" />
                {stage} #{attempt}: <SafeText max={1000}>{text}</SafeText>
              </li>
            )),
          )}
        </ul>
      )}
      <details>
        <summary className="min-h-9 cursor-pointer py-1.5 text-muted pointer-coarse:min-h-11">
          What Passrail measured in {stages.length} {stages.length === 1 ? "stage" : "stages"}
        </summary>
        <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
          {stages.map((stage) => (
            <Measured key={stage.stage} stage={stage} />
          ))}
        </ul>
      </details>
    </section>
  );
}

/** Files that decide what runs later. */
function Marked({ marked }: { readonly marked: Evidence["marked"] }): ReactNode {
  if (marked.length === 0) return null;
  return (
    <div className="rounded-md bg-warning-soft px-3 py-2 text-warning">
      <p className="font-medium">Look at these changes first</p>
      <ul className="flex flex-col gap-0.5">
        {marked.map(({ path, why }) => (
          <li key={path} className="[overflow-wrap:anywhere]">
            <Icon name="warning" className="mr-1 inline" />
            <code className="font-mono text-xs">
              <SafeText max={400}>{path}</SafeText>
            </code>{" "}
            {why}
          </li>
        ))}
      </ul>
    </div>
  );
}

const REPAIRED = "its first verdict was unreadable, so Passrail asked again";

/** The agent's claim, and whether later stages were asked to rely on it. */
function Reported({ stage, stages }: { readonly stage: Stage; readonly stages: readonly Stage[] }): ReactNode {
  const trust = stages.flatMap((each) => each.trust).findLast((each) => each.stage === stage.stage);
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="text-muted">
        Reported by <SafeText max={100}>{stage.agent}</SafeText> ({stage.stage} #{stage.attempt})
      </span>
      {stage.reported.map(({ name, line, isClean }) => (
        <Check key={`${name} ${line}`} name={name} isGood={isClean} line={line} />
      ))}
      {trust !== undefined && (
        <span className="text-muted [overflow-wrap:anywhere]">
          {trust.isTrusted
            ? "Later stages rely on this."
            : `Later stages do not rely on this: ${plain(trust.reasons.join("; "), 500)}.`}
        </span>
      )}
    </div>
  );
}

function Check({
  name,
  isGood,
  line,
}: {
  readonly name: string;
  readonly isGood: boolean;
  readonly line: string;
}): ReactNode {
  return (
    <Badge tone={isGood ? "good" : "bad"} title={plain(line, 500)}>
      <Icon name={isGood ? "check" : "cross"} />
      <SafeText max={60}>{name}</SafeText>
      <span className="sr-only">{isGood ? " clean" : " not clean"}</span>
    </Badge>
  );
}

function Measured({ stage }: { readonly stage: Stage }): ReactNode {
  const { commits, files } = stage;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-3 py-1.5">
      <span className="font-medium">
        {stage.stage} #{stage.attempt}
      </span>
      <span className="min-w-0 text-muted [overflow-wrap:anywhere]">{exitText(stage)}</span>
      {stage.rung !== null && (
        <span className="text-muted">
          <SafeText max={300}>{stage.rung}</SafeText>
        </span>
      )}
      <ContainmentBadge containment={stage.containment} />
      <span className="text-muted">
        {commits === null ? (
          "no commit"
        ) : (
          <code className="font-mono text-xs">
            {commits.from.slice(0, 7)}..{commits.to.slice(0, 7)}
          </code>
        )}
      </span>
      <span className="min-w-0 text-muted [overflow-wrap:anywhere]">
        {files.length === 0 ? (
          "no files changed"
        ) : (
          <>
            {files.length} {files.length === 1 ? "file" : "files"}:{" "}
            <span className="font-mono text-xs">
              <SafeText max={600}>{files.join(", ")}</SafeText>
            </span>
          </>
        )}
      </span>
    </li>
  );
}

function exitText({ by, exitCode, runner: name, command }: Stage): string {
  if (by === "passrail") return "done by Passrail";
  if (by === "outside") return "reported from outside";
  const runner = command === null ? name : plain(command, 200);
  return exitCode === null ? `${runner} did not exit on its own` : `${runner} exited with code ${exitCode}`;
}
