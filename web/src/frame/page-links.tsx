import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { pageAt, placeAt } from "./places.ts";

/** The pages of a place that has several. */
export function PageLinks({ path }: { readonly path: string }): ReactNode {
  const place = placeAt(path);
  const page = pageAt(path);
  if (place === undefined || place.pages.length < 2) return null;
  return (
    <nav
      aria-label={place.name}
      className="mb-4 flex gap-1 border-b border-line pb-2 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 md:flex-wrap"
    >
      {place.pages.map(({ to, name }) => (
        <Link
          key={to}
          to={to}
          {...(to === page?.to ? { "aria-current": "page" as const } : {})}
          activeProps={{}}
          className={`flex min-h-8 shrink-0 items-center rounded-md px-3 text-sm no-underline pointer-coarse:min-h-11 ${to === page?.to ? "bg-chosen font-medium text-ink" : "text-ink hover:bg-sunken"}`}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
