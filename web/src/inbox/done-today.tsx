import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { decisionsQuery } from "../base/queries.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { clock } from "../ui/time.tsx";
import { decidedText, nameOf } from "./words.ts";

/** The decisions since local midnight. Loads when a person opens it. */
export function DoneToday(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="text-sm">
      <summary className="min-h-9 cursor-pointer py-2 text-xs font-semibold text-muted pointer-coarse:min-h-11">
        Done today
      </summary>
      {isOpen && <Decisions />}
    </details>
  );
}

function Decisions(): ReactNode {
  const midnight = useMemo(() => new Date(new Date().setHours(0, 0, 0, 0)).toISOString(), []);
  const { data, error, isPending, refetch } = useQuery(decisionsQuery(midnight));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (isPending) return <Loading what="decisions" />;
  if (data.decisions.length === 0) return <p className="text-muted">No decisions today.</p>;
  return (
    <>
      <ul className="flex flex-col divide-y divide-line">
        {data.decisions.map(({ id, subject, stage, at, by, ...decided }) => (
          <li key={id} className="py-1.5">
            <Link to="/g/$item" params={{ item: id }} className="font-medium underline [overflow-wrap:anywhere]">
              <SafeText max={120}>{decidedText(decided)}</SafeText>
            </Link>
            <p className="text-xs text-muted [overflow-wrap:anywhere]">
              {stage} of <SafeText max={200}>{subject.title}</SafeText>, {nameOf(by)}, {clock(at)}
            </p>
          </li>
        ))}
      </ul>
      {!data.isWhole && <p className="pt-1 text-xs text-muted">Only the latest decisions are shown.</p>}
    </>
  );
}
