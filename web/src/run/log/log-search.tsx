// To find something in a whole log: the daemon looks, the page jumps. What is looked for stands in the address.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { call } from "../../base/api.ts";
import { useShortcuts } from "../../base/keyboard.ts";
import { Button } from "../../ui/button.tsx";
import { SafeText } from "../../ui/safe-text.tsx";
import { plain } from "../../base/plain-text.ts";
import { withoutColours } from "./ansi.ts";
import type { LogReference } from "./source.ts";

export function LogSearch({
  reference,
  size,
  goTo,
  current,
}: {
  readonly reference: LogReference;
  readonly size: number;
  readonly goTo: (line: number) => void;
  readonly current: number | null;
}): ReactNode {
  const { q = "" } = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  const field = useRef<HTMLInputElement>(null);
  const [keys] = useState(() => [
    { keys: "/", does: "Search in the log", group: "Log", act: () => field.current?.focus() },
  ]);
  useShortcuts(keys);
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
  const at = lines.findIndex(({ line }) => line === current);
  const step = (by: 1 | -1): void => {
    const next = lines[(at === -1 ? (by === 1 ? 0 : lines.length - 1) : at + by + lines.length) % lines.length];
    if (next !== undefined) goTo(next.line);
  };
  // Who searches wants to see what was found, not to ask for it once more.
  const wantsFirst = useRef(false);
  const first = found.isPlaceholderData ? undefined : lines[0]?.line;
  useEffect(() => {
    if (!wantsFirst.current || first === undefined) return;
    wantsFirst.current = false;
    goTo(first);
  });
  return (
    <form
      role="search"
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text === q && lines.length > 0) step(1);
        else {
          wantsFirst.current = text !== "";
          void navigate({
            to: "/runs/$run",
            params: (old) => ({ run: old.run ?? reference.run }),
            search: ({ q: _q, ...old }) => (text === "" ? old : { ...old, q: text }),
            replace: true,
            resetScroll: false,
          });
        }
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
      {q !== "" && (
        <>
          <Button aria-label="Previous find" onClick={() => step(-1)} disabledBecause={none(lines.length)}>
            ↑
          </Button>
          <Button aria-label="Next find" onClick={() => step(1)} disabledBecause={none(lines.length)}>
            ↓
          </Button>
          <span role="status" className="self-center text-xs text-muted">
            {found.isFetching && lines.length === 0
              ? "Searching…"
              : lines.length === 0
                ? "Nothing found"
                : `${at === -1 ? "" : `${at + 1} of `}${lines.length}${found.hasNextPage ? "+" : ""} lines`}
          </span>
          {found.hasNextPage && (
            <Button look="bare" onClick={() => void found.fetchNextPage()}>
              Search on
            </Button>
          )}
          {lines.length > 0 && (
            <details className="relative self-center text-xs">
              <summary className="min-h-9 cursor-pointer content-center px-1">List</summary>
              <ul className="absolute z-10 max-h-80 w-[min(36rem,85vw)] overflow-auto rounded-md border border-line bg-panel p-1 shadow-lg max-sm:-left-40">
                {lines.slice(0, 100).map(({ line, text: shown }) => (
                  <li key={line}>
                    <button
                      type="button"
                      title={plain(withoutColours(shown))}
                      onClick={() => goTo(line)}
                      className="flex w-full cursor-pointer gap-2 truncate rounded px-2 py-1 text-left font-mono hover:bg-sunken"
                    >
                      <span className="w-12 shrink-0 text-right text-muted">{line}</span>
                      <span className="truncate">
                        <SafeText>{withoutColours(shown)}</SafeText>
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      )}
    </form>
  );
}

function none(count: number): string | undefined {
  return count === 0 ? "Nothing was found." : undefined;
}
