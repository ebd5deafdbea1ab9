import type { ReactNode } from "react";
import { AttemptLink } from "../ui/attempt-link.tsx";
import type { AttemptFile, RunAttempt } from "./types.ts";

/** Links to the files of an attempt; they open in the log viewer. */
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
    <AttemptLink
      key={file}
      run={run}
      stage={stage}
      attempt={attempt}
      file={file}
      // Its words for screen readers are placed by it, and so make no page wider.
      className="relative inline-flex min-h-8 items-center pointer-coarse:min-h-11"
    >
      {file === "output" ? "log" : file}
      <span className="sr-only">
        {" "}
        of {stage} #{attempt}
      </span>
    </AttemptLink>
  ));
}
