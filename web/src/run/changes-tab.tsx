import { type ReactNode, useMemo } from "react";
import { Changes } from "../diff/changes.tsx";
import { findingsOf } from "../diff/findings.ts";
import type { RunDetail } from "./types.ts";

/** The changes of this run, without comments: those belong to a decision. */
export function ChangesTab({ run }: { readonly run: RunDetail }): ReactNode {
  const attempts = run.stages
    .flatMap((stage) => stage.attempts)
    .filter(({ commits }) => commits !== null)
    .toSorted((a, b) => a.readyAt.localeCompare(b.readyAt))
    .map(({ stage, attempt }) => ({ stage, attempt }));
  const findings = useMemo(() => findingsOf(run.stages), [run.stages]);
  return <Changes run={run.id} attempts={attempts} findings={findings} />;
}
