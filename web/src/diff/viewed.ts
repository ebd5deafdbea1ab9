// Which files of a diff the person has viewed. The browser remembers them by content, so a file that changes counts as not viewed.

import { useState } from "react";

const KEPT_AT_MOST = 2000;

export function useViewed(name: string): [ReadonlySet<string>, (key: string, is: boolean) => void] {
  const [kept, setKept] = useState(() => ({ name, viewed: read(name) }));
  const viewed = kept.name === name ? kept.viewed : read(name);
  return [
    viewed,
    (key, is) => {
      const next = new Set(viewed);
      if (is) next.add(key);
      else next.delete(key);
      sessionStorage.setItem(keyOf(name), JSON.stringify([...next].slice(-KEPT_AT_MOST)));
      setKept({ name, viewed: next });
    },
  ];
}

function keyOf(name: string): string {
  return `passrail.viewed.${name}`;
}

function read(name: string): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(name)) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : []);
  } catch {
    return new Set();
  }
}
