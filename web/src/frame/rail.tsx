// The navigation: six places at the left, and at its foot whether the page is live and what today has cost. On a phone four tabs at the
// bottom; the rest is behind More.

import { Link } from "@tanstack/react-router";
import {
  ChartColumn,
  CirclePlay,
  Ellipsis,
  Inbox,
  type LucideIcon,
  Settings2,
  SquareKanban,
  Workflow,
} from "lucide-react";
import type { ReactNode } from "react";
import { keysText } from "../base/keyboard.ts";
import { LiveMark } from "./live-mark.tsx";
import { PLACES, type FramePlace, placeAt } from "./places.ts";
import { Today } from "./today.tsx";

export type Overlay = "palette" | "shortcuts" | "more" | "pause" | "resume";

type Props = {
  readonly path: string;
  /** How many things need this person. */
  readonly waiting: number;
  readonly working: number;
  /** A person has paused everything. */
  readonly isPaused: boolean;
  readonly open: (overlay: Overlay) => void;
};

/** The others are behind More on a phone. */
const TABS: ReadonlySet<string> = new Set(["Now", "Runs", "Work"]);

const ICONS: Readonly<Record<string, LucideIcon>> = {
  Now: Inbox,
  Runs: CirclePlay,
  Work: SquareKanban,
  Flows: Workflow,
  Insights: ChartColumn,
  Settings: Settings2,
};

export function Rail({ path, waiting, working, isPaused, open }: Props): ReactNode {
  const current = placeAt(path);
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 gap-1 border-line bg-panel p-2 max-md:sticky max-md:bottom-0 max-md:z-30 max-md:order-last max-md:h-(--tabs) max-md:border-t max-md:pb-[max(0.5rem,env(safe-area-inset-bottom))] md:sticky md:top-0 md:h-dvh md:w-52 md:flex-col md:overflow-y-auto md:border-r"
    >
      <p className="mb-1 hidden items-center gap-2 px-2 py-2 text-base font-semibold tracking-tight md:flex">
        <Mark />
        Passrail
      </p>
      {PLACES.map((place) => (
        <PlaceLink key={place.name} place={place} isHere={place.name === current?.name}>
          {place.name === "Now" && waiting > 0 && (
            <Count tone="bg-attention-soft text-attention" says=" waiting for you">
              {waiting}
            </Count>
          )}
          {place.name === "Runs" && working > 0 && (
            <Count tone="bg-active-soft text-active" says=" working">
              {working}
            </Count>
          )}
        </PlaceLink>
      ))}
      <button type="button" className={`${LOOK} cursor-pointer text-ink md:hidden`} onClick={() => open("more")}>
        <Ellipsis aria-hidden="true" className="size-4 max-md:size-5" />
        More
      </button>
      <div className="mt-auto hidden flex-col gap-2.5 p-2 text-xs text-muted md:flex">
        <Today />
        <button type="button" className={FOOT} onClick={() => open(isPaused ? "resume" : "pause")}>
          {isPaused ? "Resume everything" : "Pause everything"}
        </button>
        <LiveMark />
        <button type="button" className={FOOT} onClick={() => open("palette")}>
          <Key>{keysText("$mod+k")}</Key> Commands
        </button>
        <button type="button" className={FOOT} onClick={() => open("shortcuts")}>
          <Key>?</Key> Keys
        </button>
      </div>
    </nav>
  );
}

/** The same as the icon of the tab; colour is for states. */
function Mark(): ReactNode {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className="size-5 shrink-0">
      <rect width="32" height="32" rx="7" className="fill-ink" />
      <path
        d="M9 24V8h8a5 5 0 0 1 0 10h-4"
        className="fill-none stroke-panel [stroke-linecap:round] [stroke-linejoin:round] [stroke-width:3.2]"
      />
      <circle cx="22.5" cy="24" r="2.3" className="fill-panel" />
    </svg>
  );
}

const LOOK =
  "relative flex min-h-9 items-center gap-2 rounded-md px-2.5 py-1.5 text-sm font-medium no-underline pointer-coarse:min-h-11 max-md:flex-1 max-md:flex-col max-md:justify-center max-md:gap-0 max-md:px-1 max-md:py-0.5 max-md:text-xs";
const FOOT = "min-h-7 cursor-pointer text-left hover:underline pointer-coarse:min-h-11";

function Key({ children }: { readonly children: string }): ReactNode {
  return <kbd className="mr-1 rounded border border-line bg-sunken px-1 font-mono text-[0.7rem]">{children}</kbd>;
}

type PlaceLinkProps = { readonly place: FramePlace; readonly isHere: boolean; readonly children: ReactNode };

function PlaceLink({ place: { name, pages }, isHere, children }: PlaceLinkProps): ReactNode {
  const Drawn = ICONS[name];
  return (
    <Link
      to={pages[0].to}
      {...(isHere ? { "aria-current": "page" as const } : {})}
      // The router would mark only the exact address.
      activeProps={{}}
      className={`${LOOK} ${isHere ? "bg-chosen text-ink" : "text-ink hover:bg-sunken"} ${TABS.has(name) ? "" : "max-md:hidden"}`}
    >
      {Drawn !== undefined && <Drawn aria-hidden="true" className="size-4 max-md:size-5" />}
      <span className="flex items-center gap-1">{name}</span>
      {children}
    </Link>
  );
}

type CountProps = { readonly tone: string; readonly says: string; readonly children: number };

function Count({ tone, says, children }: CountProps): ReactNode {
  return (
    <span
      className={`tabular rounded-full px-1.5 text-xs max-md:absolute max-md:top-0.5 max-md:left-1/2 max-md:ml-2 md:ml-auto ${tone}`}
    >
      {children}
      <span className="sr-only">{says}</span>
    </span>
  );
}
