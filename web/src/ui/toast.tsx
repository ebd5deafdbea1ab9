// Short messages about finished actions. Screen readers announce them.

import { type ReactNode, useSyncExternalStore } from "react";
import type { Tone } from "../base/status.ts";
import { SafeText } from "./safe-text.tsx";
import { TONES } from "./status-badge.tsx";

type Toast = { readonly id: number; readonly text: string; readonly tone: Tone };

const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let next = 1;
const watchers = new Set<() => void>();

export function toast(text: string, tone: Tone = "good"): void {
  const id = next++;
  set([...toasts.slice(-3), { id, text, tone }]);
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), SHOWN_MS);
}

function set(list: readonly Toast[]): void {
  toasts = list;
  for (const watcher of watchers) watcher();
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => toasts,
  );
  return (
    <div aria-live="polite" className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2">
      {shown.map(({ id, text, tone }) => (
        <p key={id} className={`rounded-md border border-line px-3 py-2 text-sm shadow-lg ${TONES[tone]}`}>
          <SafeText max={300}>{text}</SafeText>
        </p>
      ))}
    </div>
  );
}
