// Which rung of its ladder an attempt took, and why not an earlier one: once for pages, commands and events.

import type { TakenRung } from "../flow/ladder.ts";
import { overLimit } from "./over-limit.ts";

/** `codex, rung 2 of 3: claude is over its quota`. */
export function rungText(runner: string, { number, of, passed }: TakenRung): string {
  const why = passed.map((each) => overLimit(each.runner, each.cause)).join(", ");
  return `${runner}, rung ${number} of ${of}${why === "" ? "" : `: ${why}`}`;
}
