import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { optional } from "../../../src/core/optional.ts";

/** Links to the log of an attempt, or to another of its files. */
export function AttemptLink({
  run,
  stage,
  attempt,
  file,
  className = "",
  children,
}: {
  /** The number of its run, or its id. */
  readonly run: number | string;
  readonly stage: string;
  readonly attempt: number;
  readonly file?: string;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Link
      to="/runs/$run"
      params={{ run: String(run) }}
      search={{ tab: "log", stage, attempt: String(attempt), ...optional({ file }) }}
      resetScroll={false}
      className={className}
    >
      {children}
    </Link>
  );
}
