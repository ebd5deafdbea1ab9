// An outside agent reports on the work it has taken (started or finished), or a handoff expires because no agent took it in time.

import { err, ok, type Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { type Delivering, deliver, type Sent } from "./deliver.ts";
import type { AppProblem } from "./problem.ts";

export type WorkReport = SignalBody & { readonly type: "attempt.started" | "attempt.finished" | "handoff.expired" };

export async function reportWork(
  deps: Delivering,
  run: Run,
  report: WorkReport,
  sent: Sent,
): Promise<Result<Run, AppProblem>> {
  const delivered = await deliver(deps, run, report, sent);
  return delivered.ok
    ? ok(delivered.value.run)
    : err({ code: "action_refused", message: `${run.subject.id}: ${delivered.error}.` });
}
