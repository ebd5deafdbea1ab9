import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty } from "../ui/states.tsx";
import { Elapsed } from "../ui/time.tsx";

const SHOWN = 8;

/** The empty inbox: shows the runs that work now and may ask next. */
export function Quiet(): ReactNode {
  const { data } = useQuery({
    queryKey: ["runs", "working"],
    queryFn: ({ signal }) => call("listRuns", { query: { status: "running", limit: SHOWN } }, { signal }),
  });
  const runs = data?.runs ?? [];
  return (
    <Empty title="Nothing is waiting for you.">
      {data !== undefined && runs.length === 0 && (
        <p>
          Nothing is running either.{" "}
          <Link to="/welcome" className="underline">
            Start a run
          </Link>
          , or look at{" "}
          <Link to="/runs" className="underline">
            past runs
          </Link>
          .
        </p>
      )}
      {runs.length > 0 && (
        <>
          <p>These runs are working. They appear here when they need you:</p>
          <ul className="flex flex-col gap-1 text-sm">
            {runs.map(({ id, number, subject, stage, agent, since }) => (
              <li key={id}>
                <Link to="/runs/$run" params={{ run: String(number) }} className="underline">
                  #{number} <SafeText max={120}>{subject.title}</SafeText>
                </Link>{" "}
                {stage !== null && `${stage} `}
                {agent !== null && `by ${agent} `}
                <Elapsed since={since} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Empty>
  );
}
