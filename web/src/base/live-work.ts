// Live words and usage of agents at work, put into the list of working attempts.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import type { LiveChange } from "./live/protocol.ts";

type Now = AnswerTo<"showNow">;
type Row = Now["working"][number];

/** The same list if nothing is about it. */
export function withWork(now: Now, told: readonly LiveChange[]): Now {
  const working = now.working.map((row) => told.reduce(withChange, row));
  return working.every((row, at) => row === now.working[at]) ? now : { ...now, working };
}

function withChange(row: Row, { runId, growth, used }: LiveChange): Row {
  const about = growth ?? used;
  if (runId !== row.runId || about?.stage !== row.stage || about.attempt !== row.attempt) return row;
  if (used !== undefined) return { ...row, usage: { ...used.usage } };
  // A file may grow by what is no line.
  return growth?.line == null ? row : { ...row, lastLine: { ...growth.line } };
}
