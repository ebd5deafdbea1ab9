import type { ReactNode } from "react";
import type { DiffLayout } from "./use-layout.ts";
import { tip } from "../ui/tip.ts";

const CHOICES = [
  { is: "unified", title: "One column" },
  { is: "split", title: "Two columns" },
] as const satisfies readonly { is: DiffLayout; title: string }[];

/** One column or two; offered where there is room for two. */
export function LayoutChoice({
  layout,
  choose,
}: {
  readonly layout: DiffLayout;
  readonly choose: (layout: DiffLayout) => void;
}): ReactNode {
  return (
    <div role="group" aria-label="How changes are shown" className="flex shrink-0 gap-1">
      {CHOICES.map(({ is, title }) => (
        <button
          key={is}
          type="button"
          aria-pressed={is === layout}
          {...tip("v changes it")}
          onClick={() => choose(is)}
          className={`min-h-8 cursor-pointer rounded-md px-3 text-sm pointer-coarse:min-h-11 ${is === layout ? "bg-chosen font-medium text-ink" : "hover:bg-sunken"}`}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
