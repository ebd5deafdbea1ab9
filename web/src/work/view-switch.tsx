import { Link } from "@tanstack/react-router";
import { List, type LucideIcon, SquareKanban, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { type WorkView, VIEW_WORDS, VIEWS } from "./search.ts";

const ICONS: Readonly<Record<WorkView, LucideIcon>> = { list: List, board: SquareKanban, graph: Workflow };

/** List, board or graph of the same work. */
export function ViewSwitch({ current }: { readonly current: WorkView }): ReactNode {
  return (
    <nav aria-label="View" className="flex rounded-md border border-line bg-panel p-0.5">
      {VIEWS.map((view) => {
        const Drawn = ICONS[view];
        const isHere = view === current;
        return (
          <Link
            key={view}
            to="/work"
            search={({ view: _old, ...rest }) => (view === "list" ? rest : { ...rest, view })}
            activeProps={{}}
            {...(isHere ? { "aria-current": "true" as const } : {})}
            className={`inline-flex min-h-8 items-center gap-1.5 rounded px-2.5 text-sm font-medium no-underline pointer-coarse:min-h-11 ${isHere ? "bg-chosen text-ink" : "text-ink hover:bg-sunken"}`}
          >
            <Drawn aria-hidden="true" className="size-4" />
            {VIEW_WORDS[view]}
          </Link>
        );
      })}
    </nav>
  );
}
