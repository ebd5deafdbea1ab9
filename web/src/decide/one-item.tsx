// One item by its id: to decide while it waits; who decided what once it does not.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../app/api.ts";
import { itemQuery } from "../app/queries.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { Closed } from "./closed.tsx";
import { Decision } from "./decision.tsx";

const CLOSED: ReadonlySet<string> = new Set(["gate_not_waiting", "item_not_waiting"]);

export function OneItem({ id, onDecided }: { readonly id: string; readonly onDecided: () => void }): ReactNode {
  const { data, error, isPending, refetch } = useQuery(itemQuery(id));
  // What was there before it was closed is not shown as open any more.
  if (error instanceof ApiError && CLOSED.has(error.problem.code)) {
    const { decided, detail } = error.problem;
    return (
      <div className="flex flex-col gap-3">
        <h2 className="text-lg font-semibold tracking-tight">This does not wait any more</h2>
        <Closed decided={decided} detail={detail} />
        <p className="flex flex-wrap gap-4 text-sm">
          <Link to="/" className="underline">
            What waits now
          </Link>
          <Link to="/runs/$run" params={{ run: id.slice(0, id.lastIndexOf(".")) }} className="underline">
            The run
          </Link>
        </p>
      </div>
    );
  }
  if (data === undefined)
    return isPending ? <Loading what="the item" /> : <Failure error={error} retry={() => void refetch()} />;
  return <Decision key={data.id} item={data} onDecided={onDecided} />;
}
