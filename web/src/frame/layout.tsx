// The frame around every page: the navigation, how much needs this person, and whether the page is live.

import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { useAttention } from "../base/attention.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { inboxQuery, nowQuery } from "../base/queries.ts";
import { needsOf } from "../now/needs.ts";
import { useHeld } from "../settle/held.ts";
import { useNow } from "../ui/time.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { HoldsBanner } from "./holds-banner.tsx";
import { MirrorBanner } from "./mirror-banner.tsx";
import { LiveMark } from "./live-mark.tsx";
import { PauseBanner } from "./pause-banner.tsx";
import { PageLinks } from "./page-links.tsx";
import { PAGES } from "./places.ts";
import { type Overlay, Rail } from "./rail.tsx";
import { Tips } from "./tips.tsx";
import { titleOf } from "./title.ts";
import { UndoBar } from "./undo-bar.tsx";

const Palette = lazy(async () => ({ default: (await import("./palette/palette.tsx")).Palette }));
const ShortcutSheet = lazy(async () => ({ default: (await import("./shortcut-sheet.tsx")).ShortcutSheet }));
const HoldAll = lazy(async () => ({ default: (await import("./hold-all.tsx")).HoldAll }));
const More = lazy(async () => ({ default: (await import("./more.tsx")).More }));

export function Layout(): ReactNode {
  const [open, setOpen] = useState<Overlay | null>(null);
  useFrameKeys(setOpen);
  const waiting = useWaiting();
  const { working = [], paused = null } = useQuery(nowQuery).data ?? {};
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
      <Rail path={path} waiting={waiting} working={working.length} isPaused={paused !== null} open={setOpen} />
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="flex items-center justify-between border-b border-line bg-panel px-4 text-xs md:hidden">
          <LiveMark />
          <button type="button" className="min-h-11 cursor-pointer px-2 underline" onClick={() => setOpen("palette")}>
            Commands
          </button>
        </div>
        <PauseBanner resume={() => setOpen("resume")} />
        <HoldsBanner />
        <MirrorBanner />
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 p-4 outline-none md:p-6">
          <PageLinks path={path} />
          <Outlet />
        </main>
      </div>
      <Suspense>
        {open === "palette" && (
          <Palette close={() => setOpen(null)} showKeys={() => setOpen("shortcuts")} holdAll={setOpen} />
        )}
        {open === "shortcuts" && <ShortcutSheet close={() => setOpen(null)} />}
        {(open === "pause" || open === "resume") && <HoldAll act={open} close={() => setOpen(null)} />}
        {open === "more" && <More close={() => setOpen(null)} open={setOpen} />}
      </Suspense>
      <UndoBar />
      <Toasts />
      <Tips />
    </div>
  );
}

/** Entries that this person snoozed do not count until their time. */
function useWaiting(): number {
  const inbox = useQuery(inboxQuery).data;
  const now = useQuery(nowQuery).data;
  const at = useNow(15_000);
  const held = useHeld();
  return useMemo(() => needsOf({ inbox, now, held }, new Date(at).toISOString()).open.length, [inbox, now, held, at]);
}

function useFrameKeys(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const shortcuts = useMemo(
    () => [
      { keys: "$mod+k", does: "Commands", group: "Everywhere", act: () => open("palette") },
      { keys: "Shift+?", does: "This list", group: "Everywhere", act: () => open("shortcuts") },
      {
        keys: "g b",
        does: "Board",
        group: "Go to",
        act: () => void navigate({ to: "/work", search: { view: "board" } }),
      },
      ...PAGES.map(({ to, name, keys }) => ({ keys, does: name, group: "Go to", act: () => void navigate({ to }) })),
    ],
    [navigate, open],
  );
  useShortcuts(shortcuts);
}
