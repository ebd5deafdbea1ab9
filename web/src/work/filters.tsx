// The filters, the order and the groups of the work. The address holds them.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { X } from "lucide-react";
import { type ReactNode, useCallback } from "react";
import { plain } from "../base/plain-text.ts";
import { flowsQuery } from "../base/queries.ts";
import { STATE_NAMES } from "../ticket/state-names.ts";
import { Button } from "../ui/button.tsx";
import { TextFilter } from "../ui/text-filter.tsx";
import { GROUPINGS, GROUPING_WORDS, readSort, SORTS, SORT_WORDS, writeSort } from "./arrange.ts";
import { LaneChips } from "./lane-chips.tsx";
import type { WorkItem } from "./item.ts";
import { Pick, type PickOption } from "./pick.tsx";
import { viewOf, type WorkSearch } from "./search.ts";

/** Set by links; a button takes each away again. */
const LINKED = ["request", "group", "status", "state"] as const;

const ANY: PickOption = ["", "Any"];

export function WorkFilters({ items }: { readonly items: readonly WorkItem[] }): ReactNode {
  const search = useSearch({ from: "/work" });
  const navigate = useNavigate({ from: "/work" });
  const flows = useQuery(flowsQuery).data?.flows ?? [];
  const set = useCallback(
    (key: keyof WorkSearch, value: string | undefined): void =>
      void navigate({
        search: (old) =>
          Object.fromEntries(
            Object.entries({ ...old, [key]: value }).filter(([, each]) => each !== undefined && each !== ""),
          ),
        replace: true,
      }),
    [navigate],
  );
  const setText = useCallback((text: string) => set("q", text), [set]);
  const view = viewOf(search);
  const names = [...new Set([...flows.map(({ name }) => name), ...(search.flow === undefined ? [] : [search.flow])])];
  return (
    <div className="flex flex-col gap-2">
      {view === "list" && <LaneChips items={items} current={search.lane} />}
      <div className="grid grid-cols-2 items-end gap-2 md:flex md:flex-wrap md:items-center">
        <TextFilter text={search.q ?? ""} set={setText} />
        <Pick
          label="Flow"
          value={search.flow ?? ""}
          options={[ANY, ...names.map((name): PickOption => [name, name])]}
          pick={(value) => set("flow", value)}
        />
        {view === "list" && <SortPick sort={search.sort} pick={(value) => set("sort", value)} />}
        {view !== "graph" && (
          <Pick
            label="Group by"
            value={search.by ?? ""}
            options={[["", "Nothing"], ...groupings(view).map((by): PickOption => [by, GROUPING_WORDS[by]])]}
            pick={(value) => set("by", value)}
          />
        )}
        {view === "board" && search.flow !== undefined && (
          <Pick
            label="Lanes"
            value={search.lanes ?? ""}
            options={[
              ["", "States"],
              ["words", "The flow's words"],
            ]}
            pick={(value) => set("lanes", value)}
          />
        )}
        {LINKED.map((key) => {
          const value = search[key];
          return value === undefined ? null : (
            <Button key={key} onClick={() => set(key, undefined)}>
              {key}: {plain(key === "state" ? stateName(value) : value, 60)}{" "}
              <X aria-hidden="true" className="size-3.5" />
              <span className="sr-only">: remove this filter</span>
            </Button>
          );
        })}
      </div>
    </div>
  );
}

/** The lanes of a board are the states already. */
function groupings(view: "list" | "board"): readonly (typeof GROUPINGS)[number][] {
  return view === "board" ? GROUPINGS.filter((by) => by !== "state") : GROUPINGS;
}

/** The heads of the columns sort, too; a narrow screen has none. */
function SortPick({
  sort,
  pick,
}: {
  readonly sort: string | undefined;
  readonly pick: (value: string | undefined) => void;
}): ReactNode {
  const { key } = readSort(sort);
  return (
    <Pick
      label="Sort by"
      value={key}
      options={SORTS.map((each): PickOption => [each, SORT_WORDS[each]])}
      pick={(value) => {
        const chosen = readSort(value).key;
        pick(writeSort({ key: chosen, isDown: chosen === "cost" || chosen === "age" || chosen === "active" }));
      }}
    />
  );
}

function stateName(value: string): string {
  return STATE_NAMES.find(([state]) => state === value)?.[1] ?? value;
}
