// Searches everything that the agents of a run said and did. The daemon searches; the page shows the places.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import { call } from "../../base/api.ts";
import { Button } from "../../ui/button.tsx";
import { SafeText } from "../../ui/safe-text.tsx";
import { Failure } from "../../ui/states.tsx";
import { clock } from "../../ui/time.tsx";

const SHOWN = 50;

export function ActivitySearch({ run }: { readonly run: { readonly id: string; readonly number: number } }): ReactNode {
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  return (
    <div className="flex min-w-48 flex-1 flex-col gap-1 max-sm:order-last max-sm:basis-full">
      <form
        role="search"
        aria-label="Search what the agents did"
        className="flex min-w-0 items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(typed.trim());
        }}
      >
        <input
          type="search"
          aria-label="Search all attempts"
          placeholder="Search all attempts"
          value={typed}
          maxLength={200}
          onChange={({ target }) => {
            setTyped(target.value);
            if (target.value === "") setAsked("");
          }}
          className="min-h-9 w-full max-w-72 min-w-0 max-sm:max-w-none rounded-md border border-line bg-page px-2 text-sm text-ink pointer-coarse:min-h-11 pointer-coarse:text-base"
        />
        <Button type="submit" aria-label="Search" disabledBecause={typed.trim() === "" ? "Enter a text." : undefined}>
          <Search className="size-4" />
        </Button>
      </form>
      {asked !== "" && <Found run={run} text={asked} />}
    </div>
  );
}

function Found({
  run,
  text,
}: {
  readonly run: { readonly id: string; readonly number: number };
  readonly text: string;
}): ReactNode {
  const [after, setAfter] = useState("0-0");
  const { data, error } = useQuery({
    queryKey: ["activity-search", run.id, text, after],
    queryFn: ({ signal }) =>
      call("searchActivity", { params: { run: run.id }, query: { q: text, limit: SHOWN, after } }, { signal }),
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined)
    return (
      <p role="status" className="text-xs text-muted">
        Searching…
      </p>
    );
  return (
    <div className="rounded-md border border-line bg-panel">
      <p role="status" className="px-2.5 py-1 text-xs text-muted">
        {data.found.length === 0
          ? `Nothing with this text${data.next === null ? "" : " in this part"}.`
          : `${data.found.length} ${data.found.length === 1 ? "place" : "places"}${data.next === null ? "" : ", and there may be more"}`}
      </p>
      <ul className="max-h-56 divide-y divide-line overflow-y-auto border-t border-line">
        {data.found.map((each) => (
          <li key={`${each.stage} ${each.attempt} ${each.place}`}>
            <Link
              to="/runs/$run"
              params={{ run: String(run.number) }}
              search={{ tab: "activity", stage: each.stage, attempt: String(each.attempt) }}
              hash={`E${each.place}`}
              resetScroll={false}
              className="flex min-h-8 min-w-0 items-center gap-2 px-2.5 py-1 text-xs text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11"
            >
              <span className="shrink-0 text-muted tabular">
                {each.stage} #{each.attempt}
                {each.at === "" ? "" : ` · ${clock(each.at)}`}
              </span>
              <span className="min-w-0 truncate">
                <SafeText>{each.text}</SafeText>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {data.next !== null && (
        <div className="border-t border-line p-1">
          <Button look="bare" onClick={() => setAfter(data.next ?? "0-0")}>
            Search on
          </Button>
        </div>
      )}
    </div>
  );
}
