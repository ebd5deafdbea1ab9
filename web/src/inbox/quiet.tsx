import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty } from "../ui/states.tsx";
import { Elapsed } from "../ui/time.tsx";

const SHOWN = 8;

/** Nothing waits: what works now, and so may ask next. */
export function Quiet(): ReactNode {
  const { data } = useQuery({
    queryKey: ["runs", "working"],
    queryFn: ({ signal }) => call("listRuns", { query: { status: "running", limit: SHOWN } }, { signal }),
  });
  const runs = data?.runs ?? [];
  return (
    <Empty title="Nothing waits for you.">
      {data !== undefined && runs.length === 0 && (
        <p>
          Nothing runs either.{" "}
          <Link to="/welcome" className="underline">
            Start something
          </Link>
          , or look at{" "}
          <Link to="/runs" className="underline">
            what has run
          </Link>
          .
        </p>
      )}
      {runs.length > 0 && (
        <>
          <p>These work now. They come here when they need you:</p>
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
