import type { ReactNode } from "react";
import { clock } from "../ui/time.tsx";
import { type ChangedBy, type DiffText, nameOf, type Source } from "./query.ts";

const NAMED: readonly Source[] = ["review", "run", "last"];

/** Which changes are shown. */
export function SourceChoice({
  attempts,
  shown,
  reviewed,
  choose,
}: {
  readonly attempts: readonly ChangedBy[];
  readonly shown: Source;
  /** This person's last decision; null without one. */
  readonly reviewed: DiffText["reviewed"];
  readonly choose: (source: Source) => void;
}): ReactNode {
  return (
    <label className="flex min-w-0 items-center gap-2 text-sm">
      <span className="text-muted">Show</span>
      <select
        value={nameOf(shown)}
        onChange={({ target: { value } }) =>
          choose([...NAMED, ...attempts].find((source) => nameOf(source) === value) ?? "run")
        }
        className="min-h-9 min-w-0 rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
      >
        {reviewed !== null && <option value="review">since your last decision, {clock(reviewed.at)}</option>}
        <option value="run">all commits</option>
        <option value="last">the last attempt</option>
        {attempts.toReversed().map((by) => (
          <option key={nameOf(by)} value={nameOf(by)}>
            {nameOf(by)}
          </option>
        ))}
      </select>
    </label>
  );
}
