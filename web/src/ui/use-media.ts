import { useCallback, useSyncExternalStore } from "react";

/** Room for two things side by side. */
export const WIDE = "(min-width: 64rem)";

/** Whether the screen is so, now and later. */
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
