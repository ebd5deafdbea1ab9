// Whether changes of white space are hidden. The browser remembers the choice.

import { useCallback, useState } from "react";

const KEY = "passrail.diff-spaces";

export function hidesSpaces(): boolean {
  return localStorage.getItem(KEY) === "hidden";
}

export function useSpaces(): [boolean, (hides: boolean) => void] {
  const [hides, setHides] = useState(hidesSpaces);
  const choose = useCallback((next: boolean): void => {
    localStorage.setItem(KEY, next ? "hidden" : "shown");
    setHides(next);
  }, []);
  return [hides, choose];
}
