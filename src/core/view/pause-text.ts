// The pause of everything, in one sentence for every door.

import type { PausedAll } from "../run/pause-all.ts";

export function pauseText({ by, reason }: Pick<PausedAll, "by" | "reason">): string {
  const person = by.replace(/^human:/u, "");
  return `everything is paused by ${person}${reason === "" ? "" : `: ${reason}`}`;
}
