// The prompt for an outside agent that takes work: the same as for a program, except for its ending. An outside agent reports only through
// this API, not by file or output.

import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import type { WorkStage } from "../../../../core/flow/flow.ts";
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
  const prompt = composePrompt({
    resolved: isSpoken ? resolved : withoutForms(resolved),
    run,
    track,
    stage,
    carry,
    facts: {
      nonce: "",
      verdictFile: "",
      handoffFile: "",
      url,
      branch: branchOf(resolved.flow, run),
      earlier: (await store.attempts(run.id)).flatMap((attempt) => toEarlier(work, attempt)),
      answers: [],
      trust: [],
      files: {},
      diffRange: "",
    },
  });
  return isSpoken ? prompt : `${prompt}\n${howToEnd(work)}\n`;
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
