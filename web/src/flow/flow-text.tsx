// The file of a flow with line numbers, and the problems found in it.

import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Icon } from "../ui/icon.tsx";
import { TriangleAlert } from "lucide-react";

type Source = AnswerTo<"flowSource">;

export function FlowText({ source: { text, file } }: { readonly source: Source }): ReactNode {
  if (text === null) return <p className="text-sm text-muted">The file could not be read.</p>;
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
    <section aria-label={`Text of ${file}`} tabIndex={0} className="flex max-h-[32rem] overflow-auto font-mono text-xs">
      <pre aria-hidden="true" className="sticky left-0 bg-panel pr-3 text-right text-muted select-none">
        {lines.map((_, index) => index + 1).join("\n")}
      </pre>
      <pre className="min-w-0 flex-1">
        <SafeText max={256 * 1024}>{lines.join("\n")}</SafeText>
      </pre>
    </section>
  );
}

export function FlowProblems({ problems }: { readonly problems: Source["problems"] }): ReactNode {
  if (problems.length === 0)
    return (
      <p className="text-sm text-good">
        <Icon name="check" className="inline" /> No errors and no warnings.
      </p>
    );
  return (
    <ul className="flex flex-col gap-3 text-sm">
      {problems.map(({ severity, code, message, hint, file, line, column }) => (
        <li key={`${file}:${line}:${column} ${code} ${message}`} className="flex flex-col gap-0.5">
          <span className={severity === "error" ? "text-bad" : "text-warning"}>
            {severity === "error" ? (
              <Icon name="cross" className="inline" />
            ) : (
              <TriangleAlert className="inline size-[1.1em]" />
            )}{" "}
            {severity}: <SafeText>{message}</SafeText>
          </span>
          <code className="text-xs break-all text-muted">
            {file}:{line}:{column} · {code}
          </code>
          {hint !== null && (
            <span className="text-muted">
              <SafeText>{hint}</SafeText>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
