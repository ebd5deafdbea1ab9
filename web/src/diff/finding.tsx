// Findings of agents: below the line they are about, or in a list if the diff does not show that line.

import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import type { DiffFinding } from "./findings.ts";

const SHOWN_AT_MOST = 50;

export function FindingCard({ finding }: { readonly finding: DiffFinding }): ReactNode {
  return (
    <div className="m-2 rounded-md border border-warning bg-warning-soft px-3 py-2 font-sans text-sm">
      <Said finding={finding} />
    </div>
  );
}

export function FindingList({
  findings,
  isInDiff,
  goTo,
}: {
  readonly findings: readonly DiffFinding[];
  readonly isInDiff: (file: string) => boolean;
  readonly goTo: (file: string) => void;
}): ReactNode {
  if (findings.length === 0) return null;
  return (
    <section
      aria-label="Findings without a line here"
      className="rounded-md border border-warning bg-warning-soft px-3 py-2 text-sm"
    >
      <p className="font-medium text-warning">
        {findings.length === 1 ? "1 finding is" : `${findings.length} findings are`} not about a line shown here
      </p>
      <ul className="flex flex-col gap-1 pt-1">
        {findings.slice(0, SHOWN_AT_MOST).map((finding, at) => {
          const { file } = finding;
          return (
            // oxlint-disable-next-line react/no-array-index-key -- findings have no names, and their order is kept
            <li key={at}>
              <Said finding={finding} />
              {file !== null && isInDiff(file) && (
                <button
                  type="button"
                  onClick={() => goTo(file)}
                  className="ml-2 min-h-7 cursor-pointer text-xs text-link underline pointer-coarse:min-h-11"
                >
                  Go to the file
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {findings.length > SHOWN_AT_MOST && <p>… and {findings.length - SHOWN_AT_MOST} more.</p>}
    </section>
  );
}

function Said({ finding: { by, severity, description, file, line } }: { readonly finding: DiffFinding }): ReactNode {
  return (
    <span className="[overflow-wrap:anywhere] whitespace-pre-wrap">
      <span className="font-medium text-warning">
        <SafeText max={100}>{by}</SafeText>
        {severity !== null && (
          <>
            , <SafeText max={40}>{severity}</SafeText>
          </>
        )}
        :{" "}
      </span>
      <SafeText max={4000}>{description}</SafeText>
      {file !== null && (
        <code className="ml-1.5 font-mono text-xs text-muted">
          <SafeText max={400}>{`${file}${line === null ? "" : `:${line}`}`}</SafeText>
        </code>
      )}
    </span>
  );
}
