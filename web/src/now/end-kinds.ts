// The words of what waits although no stage asked.

import type { Tone } from "../base/status.ts";
import type { NeededEnd } from "./needs.ts";

export const END_KINDS = {
  merge: { word: "To merge", sign: "⤵", tone: "attention" },
  stopped: { word: "Stopped", sign: "■", tone: "bad" },
  blocked: { word: "Blocked", sign: "■", tone: "bad" },
  file: { word: "Broken file", sign: "!", tone: "warning" },
  trust: { word: "Trust", sign: "!", tone: "attention" },
  login: { word: "Logged out", sign: "!", tone: "bad" },
} as const satisfies Readonly<Record<NeededEnd["kind"] | "login", { word: string; sign: string; tone: Tone }>>;
