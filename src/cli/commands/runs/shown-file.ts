// The files of an attempt that `runs show` prints, by the names of their flags.

export const SHOWN_FILES = ["prompt", "output", "verdict", "diff", "handoff"] as const;
export type ShownFile = (typeof SHOWN_FILES)[number];
