// The one place of acts that can still be undone, and of their results. It is over the list at the left,
// on a phone at the top: never over a decision, whose comment and buttons are at the right or at the bottom.

import { type ReactNode, useLayoutEffect, useRef } from "react";
import { BatchResults } from "../bulk/batch-results.tsx";
import { useBatch } from "../bulk/batch.ts";
import { HeldRows } from "../settle/held-rows.tsx";
import { useHeld } from "../settle/held.ts";

export function UndoBar(): ReactNode {
  const held = useHeld();
  const batch = useBatch();
  return (
    <div
      aria-live="polite"
      className="fixed z-50 max-md:inset-x-2 max-md:top-12 md:bottom-4 md:left-56 md:w-[min(24rem,calc(100vw-16rem))]"
    >
      {(held.length > 0 || batch !== null) && <Rows />}
    </div>
  );
}

function Rows(): ReactNode {
  const box = useRef<HTMLElement>(null);
  useRoom(box);
  return (
    <section
      ref={box}
      aria-label="What you asked for"
      className="flex flex-col divide-y divide-line rounded-md border border-line bg-panel text-sm shadow-lg"
    >
      <HeldRows />
      <BatchResults />
    </section>
  );
}

/** Messages in the same corner stand beyond it: `--undo-room` is its height. */
function useRoom(box: React.RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const root = document.documentElement;
    const watcher = new ResizeObserver(([entry]) => {
      const height = entry?.borderBoxSize[0]?.blockSize ?? 0;
      root.style.setProperty("--undo-room", `${Math.ceil(height) + 8}px`);
    });
    if (box.current !== null) watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      root.style.removeProperty("--undo-room");
    };
  }, [box]);
}
