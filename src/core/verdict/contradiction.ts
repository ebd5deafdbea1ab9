// A report that passes and says in the same breath that something is missing: a row of the Definition of Done that is not met, an open gap,
// a failure, a critical finding. Such a pass counts as none.

import type { WorkStage } from "../flow/flow.ts";
import { type Issue, issueText, type Report } from "../flow/outcome.ts";
import type { Json } from "../json.ts";
import { clip } from "./reading.ts";

const SHOWN_CHARS = 200;

/** The contradiction of the pass, in a sentence that the agent can act on; undefined if there is none. */
export function contradictionOf(stage: Pick<WorkStage, "expectsVerdict">, report: Report): string | undefined {
  const said = report.verdict ?? report.health ?? "complete";
  const found = [
    ...unmetRows(report.payload?.["dod"]),
    ...counted(report.payload?.["open_gaps"], "open gap"),
    ...counted(report.payload?.["open_failures"], "failure"),
    // A stage that only works may list what it found; a judge that finds something critical does not pass it on.
    ...(stage.expectsVerdict ? critical(report.issues ?? []) : []),
  ];
  if (found.length === 0) return undefined;
  const more = found.length > 1 ? `, and ${found.length - 1} more` : "";
  return `The report says ${clip(said, 80)}, but ${found[0]}${more}.`;
}

function unmetRows(rows: Json | undefined): readonly string[] {
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: Json) => {
    if (row === null || typeof row !== "object" || Array.isArray(row)) return [];
    const { mark, row: text, absent } = row as { mark?: Json; row?: Json; absent?: Json };
    if (mark !== "✗") return [];
    const said = clip(typeof text === "string" ? text : "", SHOWN_CHARS);
    return [
      absent === true
        ? `the DoD coverage leaves out a row of the task, which counts as ✗ (${said})`
        : `a row of the DoD coverage is ✗ (${said})`,
    ];
  });
}

function counted(count: Json | undefined, what: string): readonly string[] {
  return typeof count === "number" && count > 0 ? [`it lists ${count} ${what}${count === 1 ? "" : "s"}`] : [];
}

function critical(issues: readonly Issue[]): readonly string[] {
  return issues
    .filter(isCritical)
    .map((issue) => `it lists a critical finding (${clip(issueText(issue), SHOWN_CHARS)})`);
}

/** By its severity, or by the first word of its text: `critical: …`, `[critical] …`, `**Critical** …`. */
function isCritical(issue: Issue): boolean {
  const severity = typeof issue === "string" ? "" : (issue.severity ?? "");
  const text = typeof issue === "string" ? issue : issue.description;
  return (
    severity.toLowerCase() === "critical" || /^[[(*_`\s]{0,6}critical[\])*_`]{0,6}\s{0,3}(?::|\]|—|–|-|$)/iu.test(text)
  );
}
