// The prompt for an outside agent that takes work: the same as for a program, except for its ending. An outside agent reports only through
// this API, not by file or output.

import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import type { WorkStage } from "../../../../core/flow/flow.ts";
import { ownVerdicts } from "../../../../attempt/prompt-history.ts";
import { NO_HISTORY } from "../../../../core/prompt/history.ts";
import { composePrompt, type EarlierHandoff } from "../../../../core/prompt/prompt.ts";
import type { Carry, Run } from "../../../../core/run/run.ts";
import { findWork } from "../../../../core/run/sequence.ts";
import { branchOf } from "../../../../core/run/branch.ts";
import type { AttemptRecord } from "../../../../store/store.ts";
import type { ServerDeps } from "../../deps.ts";

type Work = {
  readonly run: Run;
  readonly resolved: ResolvedFlow;
  readonly track: string;
  readonly stage: WorkStage;
  readonly carry: Carry;
  /** The address that the agent used. */
  readonly url: string;
};

export async function outsidePrompt({ store }: Pick<ServerDeps, "store">, work: Work): Promise<string> {
  const { run, resolved, track, stage, carry, url } = work;
  // The one form that explains how to use this API.
  const isSpoken = stage.result.from === "handoff-api";
  const attempts = await store.attempts(run.id);
  const prompt = composePrompt({
    resolved: isSpoken ? resolved : withoutForms(resolved),
    run,
    track,
    stage,
    carry,
    facts: {
      nonce: "",
      // An outside agent has its own key; Passrail does not know it.
      token: "$PASSRAIL_TOKEN",
      verdictFile: "",
      handoffFile: "",
      url,
      branch: branchOf(resolved.flow, run),
      earlier: attempts.flatMap((attempt) => toEarlier(work, attempt)),
      answers: [],
      trust: [],
      files: {},
      diffRange: "",
      attempt: run.stages[stage.id]?.attempts ?? 1,
      history: { ...NO_HISTORY, own: ownVerdicts(attempts, stage.id) },
    },
  });
  return [prompt, ...(isSpoken ? [] : [howToEnd(work)]), ...commitLine(work)].join("\n");
}

/** The forms of an ending that only a program can use. */
function withoutForms(resolved: ResolvedFlow): ResolvedFlow {
  const kept = Object.entries(resolved.prompts).filter(([name]) => !name.startsWith("fragments/output-"));
  return { ...resolved, prompts: Object.fromEntries(kept) };
}

function howToEnd({ run, resolved: { flow }, stage, url }: Work): string {
  const words = (stage.verdicts ?? Object.keys(flow.words.verdict)).join(" | ");
  const verdict = stage.expectsVerdict ? `"verdict" (exactly one of ${words})` : `"health" ("complete")`;
  const payload = stage.payload.length === 0 ? "" : `, "payload" with the keys ${stage.payload.join(", ")}`;
  return `## How to end

Send your conclusion once, as JSON, to POST ${url}/api/runs/${run.id}/verdict with "stage": "${stage.id}", ${verdict}, "summary", the "issues" that
you found${payload}. If only a person can answer what you need, send "health": "blocked" with "questions" instead of a verdict.`;
}

/** Passrail runs checks only on work that it has. */
function commitLine({ run, resolved, stage }: Work): readonly string[] {
  if ((stage.checks ?? stage.evidence) === undefined) return [];
  return [
    `Commit your work to the branch ${branchOf(resolved.flow, run)} of the project, and name the commit as "commit" in the payload: Passrail runs the project's checks on it. Without it the evidence says that they are missing.\n`,
  ];
}

function toEarlier(
  { run, resolved }: Work,
  { track, stage, attempt, status, outcome }: AttemptRecord,
): EarlierHandoff[] {
  if (status !== "done" || outcome === null) return [];
  const text = (key: string): string => (typeof outcome[key] === "string" ? outcome[key] : "");
  return [
    {
      stage,
      agent: findWork(resolved.flow, run, track, stage)?.shownAgent ?? stage,
      attempt,
      word: text("word") || text("verdict") || text("health"),
      summary: [text("summary"), text("reason")].join("\n").trim(),
      path: text("path") || null,
    },
  ];
}
