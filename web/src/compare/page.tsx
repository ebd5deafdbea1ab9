// Runs side by side, for a person who chooses one: where the work is, its size, checks, verdicts, findings, cost, and which files each
// changed. Variants of one ticket are chosen here; the page first shows the effect on the others.

import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { runQuery, ticketQuery } from "../base/queries.ts";
import { PageHead } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { runsAsked } from "./asked.ts";
import { Choosing } from "./choosing.tsx";
import { Column } from "./column.tsx";
import { FileMatrix } from "./file-matrix.tsx";

export function ComparePage(): ReactNode {
  const { runs: text } = useSearch({ from: "/compare" });
  const asked = runsAsked(text);
  return (
    <>
      <PageHead title="Compare">
        <Link to="/work" className="inline-flex min-h-9 items-center text-sm pointer-coarse:min-h-11">
          All work
        </Link>
      </PageHead>
      {asked.length < 2 ? (
        <Empty title="Choose two to four runs to compare.">
          <p>Select them in the list of runs or of work, then choose Compare; or open a ticket that has variants.</p>
        </Empty>
      ) : (
        <Compared asked={asked} />
      )}
    </>
  );
}

function Compared({ asked }: { readonly asked: readonly string[] }): ReactNode {
  const runs = useQueries({ queries: asked.map((run) => runQuery(run)) });
  const diffs = useQueries({ queries: asked.map((run) => statQuery(run)) });
  // Variants are tickets: their group says what choosing one does to the others.
  const subject = runs[0]?.data?.subject.id;
  const ticket = useQuery({ ...ticketQuery(subject ?? ""), enabled: subject !== undefined, retry: false });
  const failed = runs.find(({ error }) => error !== null);
  if (failed !== undefined)
    return <Failure error={failed.error} retry={() => void Promise.all(runs.map((each) => each.refetch()))} />;
  const loaded = runs.flatMap(({ data }) => (data === undefined ? [] : [data]));
  if (loaded.length < asked.length) return <Loading what="the runs" />;
  const variants = ticket.data?.variants ?? [];
  return (
    <div className="flex flex-col gap-4">
      <div
        className="grid grid-cols-1 gap-3 md:grid-cols-(--columns) md:grid-rows-[repeat(8,auto)]"
        style={{ "--columns": `repeat(${loaded.length}, minmax(0, 1fr))` } as object}
      >
        {loaded.map((run, at) => (
          <Column
            key={run.id}
            run={run}
            diff={diffs[at]?.data}
            choosing={<Choosing run={run} variants={variants} others={loaded.length - 1} />}
          />
        ))}
      </div>
      <FileMatrix runs={loaded} diffs={diffs.map(({ data }) => data?.files ?? [])} />
    </div>
  );
}

/** Only the numbers: the text of the diff is on the run's own page. */
const statQuery = (run: string) => ({
  queryKey: ["diff", run, "stat"],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    call("runDiff", { params: { run }, query: { of: "run", limit: "1" } }, { signal }),
});
