// Searches a whole log: the daemon finds the lines, the page jumps to them. The address holds the searched text.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { call } from "../../base/api.ts";
import { useShortcuts } from "../../base/keyboard.ts";
import { Button } from "../../ui/button.tsx";
import { SafeText } from "../../ui/safe-text.tsx";
import { plain } from "../../base/plain-text.ts";
import { withoutColours } from "./ansi.ts";
import type { LogReference } from "./source.ts";
import { ArrowDown, ArrowUp } from "lucide-react";
import { tip } from "../../ui/tip.ts";

type Props = {
  readonly reference: LogReference;
  readonly size: number;
  readonly goTo: (line: number) => void;
  /** The line that the address names. */
  readonly current: number | null;
};

export function LogSearch({ reference, size, goTo, current }: Props): ReactNode {
  const { q = "" } = useSearch({ from: "/runs/$run" });
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  const field = useSearchField();
  const search = useFound(reference, q, size);
  const { lines } = search;
  const at = lines.findIndex(({ line }) => line === current);
  const step = (by: 1 | -1): void => {
    const next = lines[(at === -1 ? (by === 1 ? 0 : lines.length - 1) : at + by + lines.length) % lines.length];
    if (next !== undefined) goTo(next.line);
  };
  // A new search jumps to its first result.
  const wantsFirst = useRef(false);
  useEffect(() => {
    if (!wantsFirst.current || search.first === undefined) return;
    wantsFirst.current = false;
    goTo(search.first);
  });
  const setQuery = useSetQuery(reference.run);
  return (
    <form
      role="search"
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text === q && lines.length > 0) return step(1);
        wantsFirst.current = text !== "";
        setQuery(text);
      }}
    >
      <label className="flex flex-col text-xs text-muted">
        Search
        <input
          ref={field}
          type="search"
          value={text}
          maxLength={200}
          onChange={({ target }) => setText(target.value)}
          placeholder="/"
          className="min-h-9 w-44 rounded-md border border-line bg-page px-2 text-sm text-ink pointer-coarse:min-h-11"
        />
      </label>
      {q !== "" && <Results search={search} at={at} step={step} goTo={goTo} />}
    </form>
  );
}

type Search = ReturnType<typeof useFound>;

/** The daemon searches the whole file, page by page. */
function useFound(reference: LogReference, q: string, size: number) {
  const found = useInfiniteQuery({
    queryKey: ["found", reference, q, size],
    enabled: q !== "",
    initialPageParam: "0-0",
    queryFn: ({ pageParam, signal }) =>
      call("searchFile", { params: reference, query: { q, limit: 200, after: pageParam } }, { signal }),
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  });
  const lines = q === "" ? [] : (found.data?.pages.flatMap((page) => page.lines) ?? []);
  return {
    lines,
    first: found.isPlaceholderData ? undefined : lines[0]?.line,
    isSearching: found.isFetching && lines.length === 0,
    hasMore: found.hasNextPage,
    readMore: () => void found.fetchNextPage(),
  };
}

function useSearchField(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  const [keys] = useState(() => [
    { keys: "/", does: "Search in the log", group: "Log", act: () => field.current?.focus() },
  ]);
  useShortcuts(keys);
  return field;
}

/** Puts the text into the address, or takes it out. */
function useSetQuery(run: string): (text: string) => void {
  const navigate = useNavigate();
  return (text) =>
    void navigate({
      to: "/runs/$run",
      params: (old) => ({ run: old.run ?? run }),
      search: ({ q: _q, ...old }) => (text === "" ? old : { ...old, q: text }),
      replace: true,
      resetScroll: false,
    });
}

function Results({
  search: { lines, isSearching, hasMore, readMore },
  at,
  step,
  goTo,
}: {
  readonly search: Search;
  /** Which of the lines is the current one; -1 for none. */
  readonly at: number;
  readonly step: (by: 1 | -1) => void;
  readonly goTo: (line: number) => void;
}): ReactNode {
  const count = `${at === -1 ? "" : `${at + 1} of `}${lines.length}${hasMore ? "+" : ""} lines`;
  return (
    <>
      <Button aria-label="Previous result" onClick={() => step(-1)} disabledBecause={none(lines.length)}>
        <ArrowUp className="size-4" />
      </Button>
      <Button aria-label="Next result" onClick={() => step(1)} disabledBecause={none(lines.length)}>
        <ArrowDown className="size-4" />
      </Button>
      <span role="status" className="self-center text-xs text-muted">
        {isSearching ? "Searching…" : lines.length === 0 ? "No results" : count}
      </span>
      {hasMore && (
        <Button look="bare" onClick={readMore}>
          Search further
        </Button>
      )}
      {lines.length > 0 && <ResultList lines={lines} goTo={goTo} />}
    </>
  );
}

function ResultList({
  lines,
  goTo,
}: {
  readonly lines: Search["lines"];
  readonly goTo: (line: number) => void;
}): ReactNode {
  return (
    <details className="relative self-center text-xs">
      <summary className="min-h-9 cursor-pointer content-center px-1">List</summary>
      <ul className="absolute z-10 max-h-80 w-[min(36rem,85vw)] overflow-auto rounded-md border border-line bg-panel p-1 shadow-lg max-sm:-left-40">
        {lines.slice(0, 100).map(({ line, text }) => (
          <li key={line}>
            <button
              type="button"
              {...tip(plain(withoutColours(text)))}
              onClick={() => goTo(line)}
              className="flex w-full cursor-pointer gap-2 truncate rounded px-2 py-1 text-left font-mono hover:bg-sunken"
            >
              <span className="w-12 shrink-0 text-right text-muted">{line}</span>
              <span className="truncate">
                <SafeText>{withoutColours(text)}</SafeText>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function none(count: number): string | undefined {
  return count === 0 ? "There are no results." : undefined;
}
