// Starts a story, for the first time or again after its run has ended. A restart uses the same folder and runners, with the current flow.

import type { Refusal } from "../../../contract/problem.ts";
import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import { runIdOf } from "../../../../app/run-id.ts";
import type { RunPlan } from "../../../../app/start-run/start-run.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import type { Subject } from "../../../../core/run/run.ts";
import { actorOf } from "../../actor.ts";
import type { ServerDeps } from "../../deps.ts";
import { refusalOf, startRefusal } from "../../refusal.ts";
import type { Asking } from "./deliver.ts";
import { isStoryFlow } from "../../../../core/run/told.ts";
import type { Story } from "./story.ts";
import { optional } from "../../../../core/optional.ts";

export async function startAgain(asking: Asking, { run }: Story): Promise<Result<Story, Refusal>> {
  const resolved = storyFlow(asking.deps, run.flow);
  if (!resolved.ok) return resolved;
  const { subject, facts } = run;
  return start(asking, { runId: runIdOf(asking.key), resolved: resolved.value, subject, facts });
}

export async function startFirst(
  asking: Asking,
  subject: Subject,
  flowName: string | undefined,
): Promise<Result<Story, Refusal>> {
  const resolved = storyFlow(asking.deps, flowName);
  if (!resolved.ok) return resolved;
  const { app } = asking.deps;
  const { name } = resolved.value.flow;
  const plan = await app.planRun({ flow: name, subject, input: [], ...optional({ key: asking.key }) });
  return plan.ok ? start(asking, plan.value) : err(startRefusal(name, plan.error));
}

async function start({ deps: { app }, principal }: Asking, plan: RunPlan): Promise<Result<Story, Refusal>> {
  const started = await app.startRun(plan, actorOf(principal));
  return started.ok ? ok({ run: started.value.run, resolved: plan.resolved }) : err(refusalOf(started.error));
}

/** The named flow, or the only one that has handoffs. */
function storyFlow({ flows }: ServerDeps, name: string | undefined): Result<ResolvedFlow, Refusal> {
  const named = name === undefined ? flows.list().map((flow) => flow.name) : [name];
  const resolved = named.map((each) => flows.resolve(each));
  const found = resolved.flatMap((each) => (each.ok && isStoryFlow(each.value.flow) ? [each.value] : []));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return ok(only);
  const [first] = resolved;
  if (name !== undefined && first?.ok === false && first.error.code !== "flow_not_found")
    return err({ code: "flow_invalid", detail: first.error.message });
  const names = found.map(({ flow }) => flow.name).join(", ");
  return err({
    code: "unknown_flow",
    detail:
      others.length > 0
        ? `Several flows have handoffs: ${names}.`
        : `There is no flow with handoffs${name === undefined ? "" : ` called ${JSON.stringify(name)}`}.`,
    pointer: "/flow",
  });
}
