import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AttemptFile, RunAttempt } from "./types.ts";

/** To what an attempt left behind, in the viewer of logs. */
export function FileLinks({
  run,
  attempt: { stage, attempt },
  files,
}: {
  /** Its number. */
  readonly run: number;
  readonly attempt: Pick<RunAttempt, "stage" | "attempt">;
  readonly files: readonly AttemptFile[];
}): ReactNode {
  return files.map((file) => (
    <Link
      key={file}
      to="/runs/$run"
      params={{ run: String(run) }}
      search={{ tab: "log", stage, attempt: String(attempt), file }}
      resetScroll={false}
      className="inline-flex min-h-8 items-center pointer-coarse:min-h-11"
    >
      {file === "output" ? "log" : file}
      <span className="sr-only">
        {" "}
        of {stage} #{attempt}
      </span>
    </Link>
  ));
}
