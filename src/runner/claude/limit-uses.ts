// How far the windows of a Claude account are used, from a `rate_limit_event`. Seen in 2.1.325: `unifiedWindows` has a share and an end for
// each window; older events have one share for the window that decides.

import type { LimitUse } from "../../core/run/limit-use.ts";
import { type Fields, fields, text } from "../loose-json.ts";
import { epochTime } from "../reset-time.ts";

export function limitUses(info: Fields): readonly LimitUse[] {
  const windows = Object.entries(fields(info["unifiedWindows"])).slice(0, 10);
  const told = windows.flatMap(([name, window]) => useOf(name, fields(window)));
  return told.length > 0 ? told : useOf(text(info["rateLimitType"]) ?? "usage", info);
}

function useOf(name: string, { utilization, resetsAt }: Fields): readonly LimitUse[] {
  if (typeof utilization !== "number") return [];
  return [
    { window: name.replaceAll("_", " ").slice(0, 40), share: utilization, resetsAt: epochTime(resetsAt) ?? null },
  ];
}
