// The usage of each attempt as its vendor reported it; a dash if it reported none.

import type { ReactNode } from "react";
import { Empty } from "../ui/states.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Elapsed, usd } from "../ui/time.tsx";
import type { RunDetail } from "./types.ts";

const SHOWN = 100;

export function CostTab({ run }: { readonly run: RunDetail }): ReactNode {
  const attempts = run.stages
    .flatMap((stage) => stage.attempts)
    .filter(({ startedAt }) => startedAt !== null)
    .toSorted((a, b) => a.readyAt.localeCompare(b.readyAt));
  if (attempts.length === 0) return <Empty title="No attempts yet, so there is no cost." />;
  const { spent } = run;
  const spared = attempts.reduce((sum, { sparedTokens }) => sum + (sparedTokens ?? 0), 0);
  return (
    <div className="flex flex-col gap-2">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard. */}
      <section
        tabIndex={0}
        aria-label="Cost of attempts"
        className="overflow-x-auto rounded-md border border-line bg-panel"
      >
        <table className="w-full text-sm">
          <thead className="border-b border-line text-left text-xs text-muted">
            <tr>
              {["Attempt", "Runner", "Model", "Time", "Input", "Cached", "Output", "Cost"].map((name, index) => (
                <th key={name} scope="col" className={`px-3 py-2 font-medium ${index > 2 ? "text-right" : ""}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {attempts.slice(-SHOWN).map((attempt) => (
              <tr key={`${attempt.stage}#${attempt.attempt}`}>
                <th scope="row" className="px-3 py-1.5 text-left font-medium whitespace-nowrap">
                  {attempt.stage} #{attempt.attempt}
                </th>
                <td className="px-3 py-1.5">
                  <SafeText max={60}>{attempt.runner ?? "—"}</SafeText>
                  {attempt.account !== null && (
                    <span className="text-muted">
                      {" "}
                      <SafeText max={30}>{attempt.account}</SafeText>
                    </span>
                  )}
                </td>
                <td className="px-3 py-1.5">
                  <SafeText max={80}>{attempt.model ?? "—"}</SafeText>
                </td>
                <td className="px-3 py-1.5 text-right">
                  <Elapsed since={attempt.startedAt ?? attempt.readyAt} until={attempt.endedAt} />
                </td>
                <td className="px-3 py-1.5 text-right tabular">{count(attempt.usage?.inputTokens)}</td>
                <td className="px-3 py-1.5 text-right tabular">{count(attempt.usage?.cachedTokens)}</td>
                <td className="px-3 py-1.5 text-right tabular">{count(attempt.usage?.outputTokens)}</td>
                <td className="px-3 py-1.5 text-right tabular">{usd(attempt.usage?.usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className="text-sm text-muted tabular">
        {attempts.length > SHOWN && `The last ${SHOWN} of ${attempts.length} attempts. `}
        {spent === null || spent.unknownUsd === spent.attempts
          ? "No attempt reported its cost."
          : `${usd(spent.usd)} in total${spent.unknownUsd > 0 ? `, not counting ${spent.unknownUsd} attempts that did not report it` : ""}.`}
        {spared > 0 && ` Ended at their verdict: about ${count(spared)} tokens not paid for once more.`}
      </p>
    </div>
  );
}

function count(tokens: number | null | undefined): string {
  return tokens === null || tokens === undefined ? "—" : tokens.toLocaleString();
}
