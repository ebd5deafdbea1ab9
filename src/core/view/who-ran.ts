// Who did the work of an attempt. A check is the flow's own program, whose exit code is the verdict: it counts as one only if that very
// program ran.

import { attemptFacts } from "../attempt-facts.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import type { WorkStage } from "../flow/flow.ts";
import { ownCommand, runsOwnCommand } from "../flow/own-command.ts";
import { runnerChoiceOf } from "../flow/runner-choice.ts";
import type { JsonObject } from "../json.ts";
import type { Run } from "../run/run.ts";

export type WhoRan = {
  readonly by: "agent" | "check" | "passrail" | "outside";
  /** The flow's own command, if another program ran instead of it. */
  readonly replaced: string | null;
};

export function whoRan(
  resolved: ResolvedFlow,
  run: Pick<Run, "facts">,
  stage: WorkStage,
  record: { readonly facts: JsonObject },
): WhoRan {
  if (stage.kind === "builtin") return { by: "passrail", replaced: null };
  const { runner, ownCommand: noted } = attemptFacts(record);
  if (runner === null) return { by: "outside", replaced: null };
  const own = ownCommand(stage);
  if (own === null) return { by: "agent", replaced: null };
  if (runner !== "command" || !(noted ?? wouldRunOwn(resolved, run, stage)))
    return { by: "agent", replaced: own.join(" ") };
  return { by: stage.result.from === "exit-code" ? "check" : "agent", replaced: null };
}

/** For attempts of earlier versions, which did not record it. */
function wouldRunOwn(resolved: ResolvedFlow, { facts }: Pick<Run, "facts">, stage: WorkStage): boolean {
  const choice = runnerChoiceOf(resolved, facts, stage);
  return choice !== undefined && runsOwnCommand(stage, choice);
}
