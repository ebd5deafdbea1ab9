// Shows text written by agents and in tickets. Invisible characters become visible, and nothing is ever read as markup.

import { Fragment, type ReactNode } from "react";
import { codeOf, HIDDEN } from "../base/plain-text.ts";

/** Shows control and direction characters by their code point. */
export function SafeText({
  children,
  max = 64 * 1024,
}: {
  readonly children: string;
  readonly max?: number;
}): ReactNode {
  const text = children.length > max ? children.slice(0, max) : children;
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    parts.push(text.slice(from, match.index));
    parts.push(
      <span key={match.index} className="mx-px rounded bg-warning-soft px-0.5 font-mono text-[0.8em] text-warning">
        {codeOf(match[0])}
      </span>,
    );
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return (
    <Fragment>
      {parts}
      {children.length > max &&
        (max < 1024 ? "…" : <span className="text-muted"> … cut at {Math.round(max / 1024)} KB</span>)}
    </Fragment>
  );
}
