// Words of agents and tickets: shown as text, with what the eye cannot see made visible. Nothing of them is ever read as markup.

import { Fragment, type ReactNode } from "react";

/** Everything that is a control or a format character, but for tabs and line ends. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029\ufff9-\ufffb]/gu;

/** Control and direction characters as their names; the rest as it is. */
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
      {children.length > max && <span className="text-muted"> … cut at {Math.round(max / 1024)} KB</span>}
    </Fragment>
  );
}

/** For attributes and titles, where no element can stand. */
export function plain(text: string, max = 200): string {
  const clean = text.replaceAll(HIDDEN, (char) => codeOf(char));
  return clean.length > max ? `${clean.slice(0, max)}…` : clean;
}

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
