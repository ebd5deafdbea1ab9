// The filters of the list of runs. The address holds them.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { flowsQuery, healthQuery } from "../base/queries.ts";
import { SHOWN } from "../base/status.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Select } from "../ui/select.tsx";
import { TextFilter } from "../ui/text-filter.tsx";
import type { RunSearch } from "./use-run-list.ts";
import { X } from "lucide-react";
import { Icon } from "../ui/icon.tsx";

const STATUSES = ["running", "waiting", "stopped", "completed", "canceled"] as const;

/** A status of the store holds several states: "running" is every run that continues without a person, working or not. */
const CHIPS = { ...SHOWN, running: { word: "Under way", icon: "working" } } as const;

export function RunFilters({ filter }: { readonly filter: RunSearch }): ReactNode {
  const navigate = useNavigate();
  const label = useId();
  const counts = useQuery(healthQuery).data?.runs;
  const flows = useQuery(flowsQuery).data?.flows ?? [];
  const set = (next: RunSearch): void =>
    void navigate({ to: "/runs", search: (old) => sorted(next, old), replace: true });
  const isWord = filter.status !== undefined && !STATUSES.some((status) => status === filter.status);
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <ul
        className="flex gap-1.5 max-md:-mx-4 max-md:w-[calc(100%+2rem)] max-md:shrink-0 max-md:overflow-x-auto max-md:px-4 max-md:pb-1 md:flex-wrap"
        aria-label="Status"
      >
        <Chip search={without(filter, "status")} isOn={filter.status === undefined}>
          All
        </Chip>
        {STATUSES.map((status) => (
          <Chip key={status} search={{ ...filter, status }} isOn={filter.status === status}>
            <Icon name={CHIPS[status].icon} className={status === "running" ? "[animation:none]" : ""} />{" "}
            {CHIPS[status].word}
            {counts?.[status] !== undefined && <span className="opacity-75 tabular">{counts[status]}</span>}
          </Chip>
        ))}
        {isWord && (
          <Chip search={without(filter, "status")} isOn>
            <SafeText max={60}>{filter.status ?? ""}</SafeText> <X className="size-3.5" />
            <span className="sr-only">: remove this filter</span>
          </Chip>
        )}
      </ul>
      <div className="flex items-center gap-2 text-sm text-muted">
        <span id={label}>Flow</span>
        <Select
          aria-labelledby={label}
          value={filter.flow ?? ""}
          options={[{ value: "", name: "all" }, ...flows.map(({ name }) => ({ value: name, name }))]}
          pick={(flow) => set(flow === "" ? without(filter, "flow") : { ...filter, flow })}
          className="min-w-28 bg-panel"
        />
      </div>
      <TextFilter text={filter.q ?? ""} set={(q) => set(q === "" ? without(filter, "q") : { ...filter, q })} />
    </div>
  );
}

function Chip({
  search,
  isOn,
  children,
}: {
  readonly search: RunSearch;
  readonly isOn: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li className="shrink-0">
      <Link
        to="/runs"
        search={(old) => sorted(search, old)}
        replace
        {...(isOn ? { "aria-current": "true" as const } : {})}
        className={`flex min-h-8 items-center gap-1.5 rounded-full border px-3 text-sm whitespace-nowrap no-underline pointer-coarse:min-h-11 ${isOn ? "border-ink bg-ink text-page" : "border-line bg-panel text-ink hover:bg-sunken"}`}
      >
        {children}
      </Link>
    </li>
  );
}

/** A filter keeps the order. */
function sorted(next: RunSearch, { sort }: { readonly sort?: string }): RunSearch & { readonly sort?: string } {
  return sort === undefined ? next : { ...next, sort };
}

function without(filter: RunSearch, name: keyof RunSearch): RunSearch {
  return Object.fromEntries(Object.entries(filter).filter(([key]) => key !== name));
}
