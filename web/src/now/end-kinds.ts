// The words for loose ends.

import type { IconName, Tone } from "../base/status.ts";
import type { NeededEnd } from "./needs.ts";

export const END_KINDS = {
  merge: { word: "To merge", icon: "merge", tone: "attention" },
  stopped: { word: "Stopped", icon: "stopped", tone: "bad" },
  blocked: { word: "Blocked", icon: "ended", tone: "bad" },
  file: { word: "Broken file", icon: "warning", tone: "warning" },
  trust: { word: "Trust", icon: "warning", tone: "attention" },
  login: { word: "Logged out", icon: "warning", tone: "bad" },
} as const satisfies Readonly<Record<NeededEnd["kind"] | "login", { word: string; icon: IconName; tone: Tone }>>;
