import { type ReactNode, useId } from "react";
import { Select } from "../ui/select.tsx";
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
  const label = useId();
  return (
    <div className="flex min-w-0 items-center gap-2 text-sm">
      <span id={label} className="text-muted">
        Show
      </span>
      <Select
        aria-labelledby={label}
        value={nameOf(shown)}
        options={[
          ...(reviewed === null ? [] : [{ value: "review", name: `since your last decision, ${clock(reviewed.at)}` }]),
          { value: "run", name: "all commits" },
          { value: "last", name: "the last attempt" },
          ...attempts.toReversed().map((by) => ({ value: nameOf(by), name: nameOf(by) })),
        ]}
        pick={(value) => choose([...NAMED, ...attempts].find((source) => nameOf(source) === value) ?? "run")}
        className="bg-panel"
      />
    </div>
  );
}
