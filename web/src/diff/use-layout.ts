// One column or two. A narrow screen always shows one. The browser remembers the choice.

import { useCallback, useState } from "react";
import { useMedia, WIDE } from "../ui/use-media.ts";

export type DiffLayout = "unified" | "split";

const KEY = "passrail.diff-layout";

export function useLayout(): {
  readonly layout: DiffLayout;
  readonly isRoomy: boolean;
  readonly choose: (layout: DiffLayout) => void;
} {
  const [chosen, setChosen] = useState<DiffLayout>(() => (localStorage.getItem(KEY) === "split" ? "split" : "unified"));
  const isRoomy = useMedia(WIDE);
  const choose = useCallback((layout: DiffLayout): void => {
    localStorage.setItem(KEY, layout);
    setChosen(layout);
  }, []);
  return { layout: isRoomy ? chosen : "unified", isRoomy, choose };
}
