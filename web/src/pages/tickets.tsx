import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { flowsQuery } from "../app/queries.ts";
import { TicketList } from "../board/ticket-list.tsx";
import { PageHead } from "../ui/panel.tsx";

const SHOWS = [
  ["all", "All"],
  ["open", "Under way"],
  ["ended", "Ended"],
] as const;

/** Every ticket that a run was made of, newest first. */
export function TicketsPage(): ReactNode {
  const { flow, show } = useSearch({ from: "/tickets" });
  const navigate = useNavigate({ from: "/tickets" });
  const flows = useQuery(flowsQuery).data?.flows ?? [];
  const shown = SHOWS.find(([name]) => name === show)?.[0] ?? "all";
  const field = "max-w-56 min-h-9 rounded-md border border-line bg-panel px-2 pointer-coarse:min-h-11";
  return (
    <>
      <PageHead title="Tickets">
        <label className="flex items-center gap-2 text-sm font-medium">
          Show
          <select
            value={shown}
            onChange={(event) => void navigate({ search: (old) => ({ ...old, show: event.target.value }) })}
            className={field}
          >
            {SHOWS.map(([name, word]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <label className="flex items-center gap-2 text-sm font-medium">
          Flow
          <select
            value={flow ?? ""}
            onChange={({ target: { value } }) =>
              void navigate({ search: ({ flow: _old, ...rest }) => (value === "" ? rest : { ...rest, flow: value }) })
            }
            className={field}
          >
            <option value="">All</option>
            {flows.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </PageHead>
      <TicketList flow={flow} show={shown} />
    </>
  );
}
