// One column or two. Two need room: where there is none, one is shown, whatever was chosen. The choice is remembered in this browser.

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
