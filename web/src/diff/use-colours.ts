// Loads the scanner for syntax colours; the diff is readable before it arrives.

import { useEffect, useState } from "react";
import type { Token } from "./tokens.ts";

export type Colour = (path: string, line: string) => readonly Token[] | undefined;

let loaded: Colour | undefined;

export function useColours(): Colour | undefined {
  const [colour, setColour] = useState<Colour | undefined>(() => loaded);
  useEffect(() => {
    if (loaded !== undefined) return;
    let isGone = false;
    void import("./tokens.ts").then(
      ({ tokensOf }) => {
        loaded = tokensOf;
        if (!isGone) setColour(() => tokensOf);
      },
      // Without colours a diff is still a diff.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, []);
  return colour;
}
