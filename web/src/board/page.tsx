import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { flowsQuery } from "../base/queries.ts";
import { Board } from "./board.tsx";
import { recentTicketsQuery } from "./board-query.ts";
import { busiestFlow } from "./lanes.ts";
import { PageHead } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";

/** The board of one flow, with a lane per status word. */
export function BoardPage(): ReactNode {
  const { flow, ticket, lane } = useSearch({ from: "/board" });
  const navigate = useNavigate({ from: "/board" });
  const router = useRouter();
  const flows = useQuery(flowsQuery);
  const recent = useQuery({ ...recentTicketsQuery, enabled: flow === undefined });
  const names = flows.data?.flows.map(({ name }) => name);
  const chosen =
    flow ?? (names === undefined || recent.data === undefined ? undefined : busiestFlow(names, recent.data.tickets));
  useEffect(() => {
    // The address keeps the choice, so that the board does not switch when another flow gets busier.
    // Skipped if the person is already on the way to another page.
    if (flow === undefined && chosen !== undefined && router.latestLocation.pathname === "/board")
      void navigate({ search: (old) => ({ ...old, flow: chosen }), replace: true });
  }, [flow, chosen, navigate, router]);
  const error = flows.error ?? recent.error;
  return (
    <>
      <PageHead title="Board">
        {names !== undefined && chosen !== undefined && (
          <label className="flex items-center gap-2 text-sm font-medium">
            Flow
            <select
              value={chosen}
              onChange={(event) => void navigate({ search: { flow: event.target.value } })}
              className="min-h-9 rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11"
            >
              {[...new Set([...names, chosen])].map((name) => (
                <option key={name} value={name}>
                  {flows.data?.flows.find((each) => each.name === name)?.title ?? name}
                </option>
              ))}
            </select>
          </label>
        )}
      </PageHead>
      {chosen !== undefined ? (
        <Board key={chosen} flow={chosen} ticket={ticket} lane={lane} />
      ) : error !== null ? (
        <Failure error={error} retry={() => void Promise.all([flows.refetch(), recent.refetch()])} />
      ) : names?.length === 0 ? (
        <Empty title="No flows yet." />
      ) : (
        <Loading what="the board" />
      )}
    </>
  );
}
