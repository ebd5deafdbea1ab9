// j and k: the next and the previous entry; e: see it tomorrow.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { isTyping, useShortcuts } from "../base/keyboard.ts";
import type { Need } from "./needs.ts";
import { morning, usePutOff } from "./put-off.ts";

export function useNowKeys(needs: readonly Need[], shown: Need | undefined, isWide: boolean): void {
  const navigate = useNavigate();
  const { mutate: putOff } = usePutOff();
  const latest = useRef({ needs, shown });
  useEffect(() => {
    latest.current = { needs, shown };
  });

  const shortcuts = useMemo(() => {
    const move = (by: 1 | -1): void => {
      // Inside the changes, j and k go from file to file.
      if (document.activeElement?.closest("[data-diff]")) return;
      const { needs: list, shown: now } = latest.current;
      const at = list.findIndex(({ id }) => id === now?.id);
      const next = list[Math.min(Math.max(at + by, 0), list.length - 1)];
      if (next === undefined) return;
      if (isWide) void navigate({ to: "/", search: (before) => ({ ...before, item: next.id }), replace: true });
      // The row may not be drawn yet. A person who writes an answer by then keeps the focus.
      requestAnimationFrame(() => {
        if (isTyping(document.activeElement)) return;
        document.querySelector<HTMLElement>(`[data-need="${CSS.escape(next.id)}"]`)?.focus();
      });
    };
    const later = (): void => {
      const { shown: now } = latest.current;
      if (now !== undefined) putOff({ id: now.id, until: morning(new Date(), 1).toISOString() });
    };
    return [
      { keys: "j", does: "Next entry", group: "Now", act: () => move(1) },
      { keys: "k", does: "Previous entry", group: "Now", act: () => move(-1) },
      { keys: "e", does: "See it tomorrow at 8", group: "Now", act: later },
    ];
  }, [isWide, navigate, putOff]);
  useShortcuts(shortcuts);
}
