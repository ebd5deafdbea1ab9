// A client's filter of events. Every named condition must match.

import type { StreamMessage } from "./message.ts";

export type StreamFilter = {
  readonly runId?: string;
  readonly subjectId?: string;
  /** Names of messages (`stage.finished`, `handoff`) or of their family: `run` is every `run.*`, `handoff` every `handoff.*` too. */
  readonly kinds?: readonly string[];
};

export function passes(
  filter: StreamFilter,
  { runId, subjectId, name }: Pick<StreamMessage, "name" | "runId" | "subjectId">,
): boolean {
  if (filter.runId !== undefined && filter.runId !== runId) return false;
  if (filter.subjectId !== undefined && filter.subjectId !== subjectId) return false;
  return filter.kinds === undefined || filter.kinds.some((kind) => name === kind || name.startsWith(`${kind}.`));
}
