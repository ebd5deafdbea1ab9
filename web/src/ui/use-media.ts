import { useCallback, useSyncExternalStore } from "react";

/** Wide enough for two columns. */
export const WIDE = "(min-width: 64rem)";

/** Whether the screen matches the query; updates when that changes. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
