// One item by its id: the decision form while it waits, then the decision.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../base/api.ts";
import { itemQuery, runQuery } from "../base/queries.ts";
import { useHeld } from "../settle/held.ts";
import { RunEnd } from "../settle/run-end.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Closed } from "./closed.tsx";
import { Decision } from "./decision.tsx";

const CLOSED: ReadonlySet<string> = new Set(["gate_not_waiting", "item_not_waiting"]);

export function OneItem({ id, onDecided }: { readonly id: string; readonly onDecided: () => void }): ReactNode {
  const { data, error, isPending, refetch } = useQuery(itemQuery(id));
  const isHeld = useHeld().some((act) => act.id === id);
  if (isHeld)
    return (
      <Empty title="You have decided this.">
        <p className="text-sm">It is sent in a moment; until then you can take it back below.</p>
      </Empty>
    );
  // The cached item is older than its closing.
  if (error instanceof ApiError && CLOSED.has(error.problem.code)) {
    const { decided, detail } = error.problem;
    return (
      <div className="flex flex-col gap-3">
        <h2 className="text-lg font-semibold tracking-tight">This item is closed</h2>
        <About run={id.slice(0, id.lastIndexOf("."))} />
        <Closed decided={decided} detail={detail} />
        <p className="text-sm">
          <Link to="/" className="underline">
            Back to Now
          </Link>
        </p>
      </div>
    );
  }
  if (data === undefined)
    return isPending ? <Loading what="the item" /> : <Failure error={error} retry={() => void refetch()} />;
  return <Decision key={data.id} item={data} onDecided={onDecided} />;
}

/** Its run, and where its work went; the daemon no longer has the item itself. */
function About({ run }: { readonly run: string }): ReactNode {
  const { data } = useQuery(runQuery(run));
  if (data === undefined) return null;
  return (
    <>
      <p className="[overflow-wrap:anywhere]">
        <Link to="/runs/$run" params={{ run: String(data.number) }} className="underline">
          #{data.number} <SafeText max={200}>{data.subject.title}</SafeText>
        </Link>{" "}
        <span className="text-muted">is now: {data.word}</span>
      </p>
      {data.end === null ? (
        data.status === "running" && (
          <p className="text-sm text-muted">The run continues at {data.stage ?? "its next stage"}.</p>
        )
      ) : (
        <RunEnd {...data} end={data.end} />
      )}
    </>
  );
}
