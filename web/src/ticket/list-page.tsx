// All tickets of the project: those with a file, and those that only have runs.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { TICKET_STATUSES } from "../../../src/core/ticket/status.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { flowsQuery, whoQuery } from "../base/queries.ts";
import { TicketList } from "./ticket-list.tsx";
import { NoTickets } from "./no-tickets.tsx";
import { ProblemsBanner } from "./problems.tsx";
import { STATE_NAMES } from "./state-names.ts";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/panel.tsx";
import { plain } from "../base/plain-text.ts";
import { TextFilter } from "../ui/text-filter.tsx";

const NewTicket = lazy(async () => ({ default: (await import("./new-ticket.tsx")).NewTicket }));

const SHOWS = [
  ["all", "All"],
  ["open", "Open"],
  ["ended", "Ended"],
] as const;

export function TicketsPage(): ReactNode {
  const { new: isNew, show, ...filter } = useSearch({ from: "/tickets" });
  const navigate = useNavigate({ from: "/tickets" });
  const flows = useQuery(flowsQuery).data?.flows ?? [];
  const who = useQuery(whoQuery).data;
  const cannot = who !== undefined && !who.scopes.includes("operate") ? "Your token can only read." : undefined;
  const set = (key: string, value: string): void =>
    void navigate({ search: (old) => ({ ...old, [key]: value === "" ? undefined : value }), replace: true });
  const shortcuts = useMemo(
    () => [
      {
        keys: "c",
        does: "New ticket",
        group: "Tickets",
        act: () => void navigate({ search: (old) => ({ ...old, new: "1" }) }),
      },
    ],
    [navigate],
  );
  useShortcuts(shortcuts);
  const open = show === "open" ? ({ open: "true" } as const) : show === "ended" ? ({ open: "false" } as const) : {};
  const create = (): void => set("new", "1");
  return (
    <>
      <PageHead title="Tickets">
        <Button look="primary" onClick={create} keys="c" disabledBecause={cannot}>
          New ticket
        </Button>
      </PageHead>
      <ProblemsBanner />
      <div className="mb-3 grid grid-cols-2 gap-2 md:flex md:flex-wrap md:items-center">
        <Pick
          label="Show"
          value={show ?? "all"}
          pick={(value) => set("show", value === "all" ? "" : value)}
          options={SHOWS}
        />
        <Pick
          label="State"
          value={filter.state ?? ""}
          pick={(value) => set("state", value)}
          options={[ANY, ...STATE_NAMES]}
        />
        <Pick
          label="Status"
          value={filter.status ?? ""}
          pick={(value) => set("status", value)}
          options={[ANY, ...TICKET_STATUSES.map((word) => [word, word] as const)]}
        />
        <Pick
          label="Flow"
          value={filter.flow ?? ""}
          pick={(value) => set("flow", value)}
          options={[ANY, ...flows.map(({ name, title }) => [name, title] as const)]}
        />
        <TextFilter text={filter.q ?? ""} set={(text) => set("q", text)} />
        {(["request", "group"] as const).map((key) =>
          filter[key] === undefined ? null : (
            <Button key={key} onClick={() => set(key, "")}>
              {key} {plain(filter[key], 60)} <span aria-hidden="true">✕</span>
              <span className="sr-only">: remove this filter</span>
            </Button>
          ),
        )}
      </div>
      <TicketList filter={{ ...filter, ...open }} empty={<NoTickets create={create} cannot={cannot} />} />
      <Suspense>{isNew !== undefined && cannot === undefined && <NewTicket close={() => set("new", "")} />}</Suspense>
    </>
  );
}

const ANY = ["", "Any"] as const;

function Pick({
  label,
  value,
  options,
  pick,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly pick: (value: string) => void;
}): ReactNode {
  const isKnown = options.some(([name]) => name === value);
  return (
    <label className="flex gap-x-2 text-sm text-muted max-md:flex-col md:items-center">
      {label}
      <select
        value={value}
        onChange={({ target }) => pick(target.value)}
        className="min-h-9 w-full min-w-0 rounded-md md:max-w-48 border border-line bg-panel px-2 text-sm text-ink pointer-coarse:min-h-11"
      >
        {!isKnown && <option value={value}>{plain(value, 60)}</option>}
        {options.map(([name, word]) => (
          <option key={name} value={name}>
            {plain(word, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
