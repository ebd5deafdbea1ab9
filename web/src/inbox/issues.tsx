import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import type { ShownIssue } from "./types.ts";

const SHOWN_AT_MOST = 100;

/** Issues from agents and people: a sentence, or one with severity, file and line. Any other form is shown as JSON. */
export function Issues({ issues }: { readonly issues: readonly unknown[] }): ReactNode {
  if (issues.length === 0) return null;
  return (
    <>
      <ul className="list-disc pl-5 text-sm [overflow-wrap:anywhere]">
        {issues.slice(0, SHOWN_AT_MOST).map((issue, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- findings have no names, and their order is kept
          <li key={at}>
            <IssueLine issue={issue as ShownIssue} />
          </li>
        ))}
      </ul>
      {issues.length > SHOWN_AT_MOST && (
        <p className="text-sm text-muted">… and {issues.length - SHOWN_AT_MOST} more.</p>
      )}
    </>
  );
}

function IssueLine({ issue }: { readonly issue: ShownIssue }): ReactNode {
  if (typeof issue === "string") return <SafeText max={4000}>{issue}</SafeText>;
  if (typeof issue !== "object" || issue === null || typeof issue.description !== "string")
    return <code className="font-mono text-xs">{<SafeText max={4000}>{JSON.stringify(issue)}</SafeText>}</code>;
  return (
    <>
      {typeof issue.severity === "string" && (
        <strong className="font-medium">
          <SafeText max={80}>{issue.severity}</SafeText>:{" "}
        </strong>
      )}
      <span className="whitespace-pre-wrap">
        <SafeText max={4000}>{issue.description}</SafeText>
      </span>
      {typeof issue.file === "string" && (
        <code className="ml-1.5 font-mono text-xs text-muted">
          <SafeText max={400}>{`${issue.file}${issue.line === undefined ? "" : `:${issue.line}`}`}</SafeText>
        </code>
      )}
    </>
  );
}
