import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { countKinds, KIND_WORDS, type Needs } from "./needs.ts";

/** One kind at a time; only kinds that there are. */
export function Filters({ needs, kind }: { readonly needs: Needs; readonly kind: string | undefined }): ReactNode {
  const kinds = countKinds(needs.open).map(([name, count]) => ({
    name: name as string,
    word: KIND_WORDS[name],
    count,
  }));
  const later = needs.later.length === 0 ? [] : [{ name: "later", word: "Later", count: needs.later.length }];
  const all = [...kinds, ...later];
  if (all.length < 2 && kind === undefined && later.length === 0) return null;
  return (
    <nav aria-label="Kinds" className="mb-2 flex flex-wrap gap-1">
      <Chip isOn={kind === undefined} word="All" count={needs.open.length} />
      {all.map(({ name, word, count }) => (
        <Chip key={name} isOn={kind === name} kind={name} word={word} count={count} />
      ))}
    </nav>
  );
}

type ChipProps = { readonly isOn: boolean; readonly kind?: string; readonly word: string; readonly count: number };

function Chip({ isOn, kind, word, count }: ChipProps): ReactNode {
  return (
    <Link
      to="/"
      search={kind === undefined ? {} : { kind }}
      {...(isOn ? { "aria-current": "true" as const } : {})}
      className={`inline-flex min-h-7 items-center gap-1 rounded-full border px-2.5 text-xs no-underline pointer-coarse:min-h-11 ${isOn ? "border-ink bg-ink text-page" : "border-line bg-panel text-ink hover:bg-sunken"}`}
    >
      {word} <span className="tabular">{count}</span>
    </Link>
  );
}
