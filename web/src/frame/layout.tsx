// The frame around every page: the navigation, how many items wait, and whether the page is live.

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { useLiveState } from "../base/live/live.ts";
import { Toasts } from "../ui/toast.tsx";
import { duration, useNow } from "../ui/time.tsx";
import { keysText, useShortcuts } from "../base/keyboard.ts";
import { useAttention } from "../base/attention.ts";
import { inboxQuery } from "../base/queries.ts";
import { PLACES } from "./places.ts";
import { titleOf } from "./title.ts";

const Palette = lazy(async () => ({ default: (await import("./palette/palette.tsx")).Palette }));
const ShortcutSheet = lazy(async () => ({ default: (await import("./shortcut-sheet.tsx")).ShortcutSheet }));

export function Layout(): ReactNode {
  const navigate = useNavigate();
  const [open, setOpen] = useState<Overlay | null>(null);
  const shortcuts = useMemo(
    () => [
      { keys: "$mod+k", does: "Commands", group: "Everywhere", act: () => setOpen("palette") },
      { keys: "Shift+?", does: "This list", group: "Everywhere", act: () => setOpen("shortcuts") },
      ...PLACES.map(({ to, name, keys }) => ({
        keys,
        does: name,
        group: "Go to",
        act: () => void navigate({ to }),
      })),
    ],
    [navigate],
  );
  useShortcuts(shortcuts);
  const { items = [], looseEnds = [] } = useQuery(inboxQuery).data ?? {};
  const waiting = items.length + looseEnds.length;
  const path = useLocation({ select: ({ pathname }) => pathname });
  useAttention();
  useEffect(() => {
    document.title = titleOf(path, waiting);
  }, [path, waiting]);

  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <a href="#main" className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:bg-panel focus:p-2">
        Skip to content
      </a>
      <Navigation waiting={waiting} open={setOpen} />
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center justify-between border-b border-line bg-panel px-4 text-xs md:hidden">
          <LiveMark />
          <button type="button" className="min-h-11 cursor-pointer px-2 underline" onClick={() => setOpen("palette")}>
            Commands
          </button>
        </div>
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 p-4 outline-none md:p-6">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {open === "palette" && <Palette close={() => setOpen(null)} showKeys={() => setOpen("shortcuts")} />}
        {open === "shortcuts" && <ShortcutSheet close={() => setOpen(null)} />}
      </Suspense>
      <Toasts />
    </div>
  );
}

type Overlay = "palette" | "shortcuts";

function Navigation({
  waiting,
  open,
}: {
  readonly waiting: number;
  readonly open: (overlay: Overlay) => void;
}): ReactNode {
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 gap-1 overflow-x-auto border-line bg-panel p-2 max-md:order-last max-md:sticky max-md:bottom-0 max-md:z-30 max-md:border-t md:sticky md:top-0 md:h-dvh md:w-44 md:flex-col md:border-r"
    >
      {PLACES.map(({ to, name, sign }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === "/", includeSearch: false }}
          activeProps={{ className: "bg-active-soft text-active", "aria-current": "page" }}
          inactiveProps={{ className: "text-ink hover:bg-sunken" }}
          className="flex min-h-9 items-center gap-2 rounded-md px-2.5 py-1.5 text-sm font-medium no-underline pointer-coarse:min-h-11 max-md:min-w-[4.3rem] max-md:shrink-0 max-md:flex-col max-md:gap-0 max-md:px-1 max-md:text-xs"
        >
          <span aria-hidden="true" className="w-4 text-center">
            {sign}
          </span>
          {name}
          {to === "/" && waiting > 0 && (
            <span className="rounded-full bg-attention-soft px-1.5 text-xs text-attention md:ml-auto">
              {waiting}
              <span className="sr-only"> waiting for you</span>
            </span>
          )}
        </Link>
      ))}
      <div className="mt-auto hidden flex-col gap-2 p-2 text-xs text-muted md:flex">
        <LiveMark />
        <button
          type="button"
          className="min-h-7 cursor-pointer text-left hover:underline pointer-coarse:min-h-11"
          onClick={() => open("palette")}
        >
          <kbd className="font-mono">{keysText("$mod+k")}</kbd> commands
        </button>
        <button
          type="button"
          className="min-h-7 cursor-pointer text-left hover:underline pointer-coarse:min-h-11"
          onClick={() => open("shortcuts")}
        >
          <kbd className="font-mono">?</kbd> keys
        </button>
      </div>
    </nav>
  );
}

/** Whether the page is live, or how long its data has been stale. */
function LiveMark(): ReactNode {
  const state = useLiveState();
  const now = useNow(1000);
  switch (state.is) {
    case "live":
      return (
        <span role="status" className="text-good">
          ● Live
        </span>
      );
    case "connecting":
      return <span role="status">○ Connecting</span>;
    case "reconnecting":
      return (
        <span role="status" className="text-attention">
          ◌ Reconnecting, stale for {duration(now - state.since)}
        </span>
      );
    case "refused":
      return (
        <span role="status" className="text-bad">
          ✖ {state.why}
        </span>
      );
  }
}
