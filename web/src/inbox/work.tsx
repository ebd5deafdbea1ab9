// Where the work is that a decision is about: each branch with its commit, and the folder to look at it.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { itemQuery } from "../base/queries.ts";
import { Copy } from "../ui/copy-line.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { tip } from "../ui/tip.ts";

export function Work({ item }: { readonly item: string }): ReactNode {
  const work = useQuery(itemQuery(item)).data?.work ?? [];
  if (work.length === 0) return null;
  return (
    <section aria-label="Where the work is" className="text-sm">
      <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
        {work.map(({ branch, commit, commits, workspace }) => (
          <li key={branch} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 px-3 py-1.5">
            <code className="font-mono text-xs [overflow-wrap:anywhere]">
              <SafeText max={200}>{branch}</SafeText>
            </code>
            <span>
              {commits} {commits === 1 ? "commit" : "commits"}
              {commit !== null && (
                <>
                  {" "}
                  at{" "}
                  <code {...tip(commit)} className="font-mono text-xs">
                    {commit.slice(0, 12)}
                  </code>
                </>
              )}
            </span>
            {workspace !== null && (
              <span className="ml-auto text-xs">
                <Copy text={workspace} label="Copy folder" />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
