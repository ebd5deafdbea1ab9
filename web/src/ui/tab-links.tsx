import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

type Places = "/settings" | "/insights" | "/report";

/** Tabs of a page; the address holds the choice. */
export function TabLinks({
  label,
  to,
  name,
  tabs,
  current,
}: {
  readonly label: string;
  readonly to: Places;
  /** The parameter of the address that holds the choice. */
  readonly name: "tab" | "by" | "since";
  readonly tabs: readonly { readonly is: string; readonly title: string }[];
  readonly current: string;
}): ReactNode {
  return (
    <nav aria-label={label} className="flex flex-wrap gap-1">
      {tabs.map(({ is, title }) => (
        <Link
          key={is}
          to={to}
          search={(before: Readonly<Record<string, string>>) => ({ ...before, [name]: is })}
          {...(is === current ? { "aria-current": "true" as const } : {})}
          className={`flex min-h-8 items-center rounded-md px-3 text-sm no-underline pointer-coarse:min-h-11 ${is === current ? "bg-chosen font-medium text-ink" : "text-ink hover:bg-sunken"}`}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
