// Desktop notifications while the page is in the background: one per item that waits for a person, closed when a person answers it.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { plain } from "./plain-text.ts";
import { inboxQuery } from "./queries.ts";

const KEY = "passrail.notify";

export function notifiesOn(): boolean {
  return localStorage.getItem(KEY) === "on" && "Notification" in globalThis && Notification.permission === "granted";
}

export async function setNotifies(on: boolean): Promise<boolean> {
  const granted = on && "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(KEY, granted ? "on" : "off");
  return granted;
}

export function useAttention(): void {
  const items = useQuery(inboxQuery).data?.items;
  const shown = useRef<Map<string, Notification | null> | null>(null);
  useEffect(() => {
    if (items === undefined) return;
    const first = shown.current === null;
    const known = (shown.current ??= new Map());
    for (const item of items) {
      if (known.has(item.id)) continue;
      // The page shows items that were open when it loaded.
      const speaks = !first && notifiesOn() && document.visibilityState === "hidden";
      known.set(
        item.id,
        speaks ? notice(item.id, item.subject.title, item.asks[0] ?? `${item.kind} ${item.stage}`) : null,
      );
    }
    const open = new Set(items.map(({ id }) => id));
    for (const [id, shown] of known) {
      if (open.has(id)) continue;
      shown?.close();
      known.delete(id);
    }
  }, [items]);
}

function notice(id: string, title: string, text: string): Notification {
  const shown = new Notification(plain(title, 80), { body: plain(text, 240), tag: id });
  shown.addEventListener("click", () => {
    window.focus();
    location.assign(`/g/${encodeURIComponent(id)}`);
  });
  return shown;
}
