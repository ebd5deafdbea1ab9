// The start of a story: for the first time, or again after its run has ended. Again means the same once more: same folder, same
// players, the flow as it is now.

import type { Refusal } from "../../../contract/problem.ts";
import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import type { Run, Subject } from "../../../../core/run/run.ts";
import { actorOf } from "../../actor.ts";
import type { ServerParts } from "../../parts.ts";
import type { Asking } from "./deliver.ts";
import { isStory, type Story } from "./story.ts";
import { optional } from "../../../../core/optional.ts";

export async function startAgain(asking: Asking, { run }: Story): Promise<Result<Story, Refusal>> {
  const resolved = storyFlow(asking.parts, run.flow);
  return resolved.ok ? start(asking, resolved.value, run.subject, run.facts) : resolved;
}

export async function startFirst(
  asking: Asking,
  subject: Subject,
  flowName: string | undefined,
): Promise<Result<Story, Refusal>> {
  const resolved = storyFlow(asking.parts, flowName);
  if (!resolved.ok) return resolved;
  const prepared = await asking.parts.prepare({ resolved: resolved.value, subject, input: {} });
  if (prepared.ok) return start(asking, resolved.value, subject, prepared.value);
  const { message, hint } = prepared.error;
  return err({ code: "run_refused", detail: message, ...optional({ hint }) });
}

/** The run that this wish starts, or has started before. */
export function runIdOf({ parts, wish }: Asking): string {
  return wish === undefined ? parts.newRunId() : `r${wish.slice(0, 10)}`;
}

async function start(
  asking: Asking,
  resolved: ResolvedFlow,
  subject: Subject,
  facts: JsonObject,
): Promise<Result<Story, Refusal>> {
  const { run, duplicate } = await asking.parts.engine.startRun({
    runId: runIdOf(asking),
    resolved,
    subject,
    facts,
    actor: actorOf(asking.principal),
  });
  if (duplicate && !isSame(run, subject))
    return err({ code: "idempotency_key_reused", detail: "This Idempotency-Key has started another run before." });
  return ok({ run, resolved });
}

function isSame(run: Run, { id }: Subject): boolean {
  return run.subject.id === id;
}

/** The named flow, or the only one that has handoffs. */
function storyFlow({ flows }: ServerParts, name: string | undefined): Result<ResolvedFlow, Refusal> {
  const named = name === undefined ? flows.list().map((flow) => flow.name) : [name];
  const resolved = named.map((each) => flows.resolve(each));
  const found = resolved.flatMap((each) => (each.ok && isStory(each.value.flow) ? [each.value] : []));
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
