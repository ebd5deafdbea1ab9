// Where the work of an ended run is and what settles a stopped one, for the notice about its end.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import { stoppedEnd } from "../core/view/loose-end.ts";
import { endText, runEnd } from "../core/view/run-end.ts";
import type { Store } from "../store/store.ts";

/** Empty if the run has not ended. Only what is recorded counts: a notice does not wait for git. */
export async function endOfRun(
  store: Pick<Store, "attempts" | "findRuns">,
  flowOf: (hash: string) => Promise<ResolvedFlow>,
  run: Run,
): Promise<string> {
  const [resolved, attempts, found] = await Promise.all([
    flowOf(run.flowHash),
    store.attempts(run.id),
    store.findRuns(run.id),
  ]);
  const number = found.find(({ id }) => id === run.id)?.number ?? 0;
  const end = runEnd({ resolved, run, number, attempts, landed: landedRecord(attempts) });
  const verbs = stoppedEnd(run, number, attempts)?.verbs ?? [];
  const lines = [...(end === null ? [] : [endText(end)]), ...verbs.map(({ verb, command }) => `${verb}: ${command}`)];
  return lines.join("\n");
}
