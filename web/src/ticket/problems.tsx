// Problems in ticket files. Other tickets continue, so only this banner shows a person the broken ones.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { problemsQuery } from "./queries.ts";
import { Icon } from "../ui/icon.tsx";

type Problem = AnswerTo<"ticketProblems">["problems"][number];

const SHOWN = 100;

export function ProblemsBanner(): ReactNode {
  const data = useQuery(problemsQuery).data;
  if (data === undefined) return null;
  const { cannotStart, isCut } = data;
  // The list of tickets that cannot start shows these already.
  const told = new Set(cannotStart.map(({ path }) => path));
  const problems = data.problems.filter(({ path, severity }) => severity === "warning" || !told.has(path));
  const count = cannotStart.length + problems.length;
  if (count === 0) return null;
  return (
    <details className={`mb-3 rounded-lg border text-sm ${told.size > 0 ? "border-bad" : "border-warning"}`}>
      <summary className="min-h-9 cursor-pointer px-4 py-2 font-medium pointer-coarse:min-h-11">
        <Icon name="warning" className="mr-1 inline" />
        {count}
        {isCut && "+"} {count === 1 ? "problem" : "problems"} in ticket files
        {told.size > 0 &&
          `, ${cannotStart.length === count ? "all" : cannotStart.length} preventing tickets from starting`}
      </summary>
      <StuckList stuck={cannotStart.slice(0, SHOWN)} />
      <ProblemList problems={problems.slice(0, SHOWN)} />
      {count > SHOWN && <p className="px-4 pb-2 text-muted">Only the first {SHOWN} of each kind are shown.</p>}
    </details>
  );
}

function StuckList({ stuck }: { readonly stuck: AnswerTo<"ticketProblems">["cannotStart"] }): ReactNode {
  return (
    <ul className="flex flex-col divide-y divide-line border-t border-line">
      {stuck.map(({ ticket, path, line, why }, at) => (
        <li key={`${path} ${at}`} className="px-4 py-2 text-sm">
          <p className="min-w-0 break-words">
            <span className="text-bad">
              <Icon name="cross" className="mr-1 inline" />
              {ticket === null ? "" : `${plain(ticket, 60)} `}cannot start
            </span>
            : <SafeText max={600}>{why}</SafeText>
          </p>
          <p className="font-mono text-xs break-all text-muted">
            {plain(line === null ? path : `${path}:${line}`, 400)}
          </p>
        </li>
      ))}
    </ul>
  );
}

export function ProblemList({ problems }: { readonly problems: readonly Problem[] }): ReactNode {
  return (
    <ul className="flex flex-col divide-y divide-line border-t border-line">
      {problems.map((problem, at) => (
        <li key={`${problem.path} ${problem.code} ${at}`} className="px-4 py-2 text-sm">
          <p className="min-w-0 break-words">
            <span className={problem.severity === "refused" ? "text-bad" : "text-warning"}>
              <Icon name={problem.severity === "refused" ? "cross" : "warning"} className="mr-1 inline" />
              {problem.severity === "refused" ? "cannot start" : "warning"}
            </span>
            : <SafeText max={600}>{problem.message}</SafeText>
          </p>
          <p className="font-mono text-xs break-all text-muted">
            {plain(placeOf(problem), 400)} · {plain(problem.code, 60)}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** As editors and terminals take it. */
function placeOf({ path, line, column }: Problem): string {
  return line === null ? path : `${path}:${line}${column === null ? "" : `:${column}`}`;
}
