// A node's note about itself in a shared database, and how two nodes differ.

import { z } from "zod";

export const nodeNoteSchema = z.object({
  host: z.string().max(300),
  url: z.string().max(300),
  version: z.string().max(100),
  performs: z.boolean(),
  /** Setting -> hash of its value. */
  settings: z.record(z.string(), z.string()),
});

export type NodeNote = z.infer<typeof nodeNoteSchema>;

/** In a sentence; undefined if they are alike. */
export function differenceOf(own: NodeNote, other: NodeNote): string | undefined {
  const keys = [...new Set([...Object.keys(own.settings), ...Object.keys(other.settings)])]
    .filter((key) => own.settings[key] !== other.settings[key])
    .toSorted();
  const parts = [
    ...(own.version === other.version ? [] : [`version ${other.version} (here ${own.version})`]),
    ...(keys.length === 0 ? [] : [`other settings: ${keys.join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : `the node ${other.url} on ${other.host} has ${parts.join(", and ")}`;
}
