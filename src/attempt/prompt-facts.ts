// Gathers the facts for the prompt of one attempt: files, earlier handoffs, earlier answers, trust. It only reads; core composes the
// prompt.

import { runFacts } from "../core/run/facts.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import type { EarlierAnswer, EarlierHandoff, PromptFacts } from "../core/prompt/prompt.ts";
import { gateTrust } from "../core/run/trust.ts";
import type { Carry } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { attemptFiles, readAgentFile } from "./attempt-files.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

const CARRIED_FILE_BYTES = 256 * 1024;

export async function promptFacts(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, dir, head }: { readonly workspace: Workspace; readonly dir: string; readonly head: string | null },
): Promise<PromptFacts> {
  const attempts = await ports.earlierAttempts();
  const first = attempts.map(attemptFacts).find(({ from }) => from !== null)?.from;
  return {
    nonce: job.nonce,
    verdictFile: job.files.verdict,
    handoffFile: job.files.handoff,
    url: job.url,
    branch: workspace.branch ?? "",
    earlier: attempts.flatMap((attempt) => toEarlier(job, attempt)),
    answers: earlierAnswers(attempts.filter(({ stage }) => stage === job.stage.id)),
    trust: job.stage.gates === undefined ? [] : gateTrust(job.resolved.flow, attempts, job.stage.gates.trust),
    files: await promptFiles(job, dir),
    diffRange: first !== undefined && head !== null ? `${first}..HEAD` : "",
  };
}

/** The part that is stored with the attempt: a person's answer, and whether the gates before it were trusted. */
export function notedFacts({ carry }: { readonly carry: Carry }, { trust }: PromptFacts): JsonObject {
  return {
    ...(carry.reason === "answered" && carry.said !== undefined ? { answer: carry.said } : {}),
    ...(trust.length === 0 ? {} : { trust: trust.map((found) => ({ ...found })) }),
  };
}

async function promptFiles(job: AttemptJob, dir: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const read = async (name: string, path: string): Promise<void> => {
    const text = await readAgentFile(path, CARRIED_FILE_BYTES);
    if (text !== undefined) files[name] = text;
  };
  const shown = job.stage.kind === "router" ? job.stage.reads : [];
  for (const name of [...job.carry.names, ...job.stage.carryOnRetry, ...shown]) {
    if (name.includes("/") || name.includes(".")) await read(name, join(dir, name));
  }
  for (const name of ["dev-bundle.md", "tester-bundle.md"]) {
    await read(name, join(job.home, "runs", job.run.id, "bundles", name));
  }
  for (const name of ["spec", "task"] as const) {
    const path = runFacts(job.run).plan[name];
    if (path !== null) await read(name, join(job.project, path));
  }
  for (const name of job.stage.inline) {
    const text = job.resolved.prompts[`fragments/inline-${name}`];
    if (text !== undefined) files[`inline-${name}`] = text;
  }
  return files;
}

/** Every round of questions and answers of this stage before the one in this prompt. */
function earlierAnswers(attempts: readonly EarlierAttempt[]): EarlierAnswer[] {
  const done = attempts.filter(({ status }) => status === "done");
  return done.flatMap((attempt, index) => {
    const { answer } = attemptFacts(attempt);
    const questions = done[index - 1]?.outcome?.["questions"];
    const texts = Array.isArray(questions) ? questions.filter((text) => typeof text === "string") : [];
    return answer === null ? [] : [{ questions: texts, answer }];
  });
}

function toEarlier(job: AttemptJob, record: EarlierAttempt): EarlierHandoff[] {
  const { outcome } = record;
  if (record.status !== "done" || outcome === null) return [];
  const text = (key: string): string | undefined => (typeof outcome[key] === "string" ? outcome[key] : undefined);
  return [
    {
      stage: record.stage,
      agent: agentOf(job.resolved, record.stage),
      attempt: record.attempt,
      word: text("word") ?? text("verdict") ?? text("health") ?? "",
      summary: [text("summary") ?? "", text("reason") ?? "", ...filesLine(record)].join("\n").trim(),
      path: text("path") ?? handoffPath(job, record),
    },
  ];
}

/** Where an agent that reports by a handoff file left it; the next one reads it there. */
function handoffPath(job: AttemptJob, { runId, track, stage, attempt }: EarlierAttempt): string | null {
  const sender = findWork(job.resolved.flow, job.run, track, stage);
  if (sender?.result.from !== "handoff-file") return null;
  return attemptFiles(job.home, runId, stage, attempt).handoff;
}

function filesLine({ facts: { files } }: EarlierAttempt): readonly string[] {
  return Array.isArray(files) && files.length > 0 ? [`Files changed: ${files.join(", ")}`] : [];
}

function agentOf(resolved: ResolvedFlow, stageId: string): string {
  for (const stage of resolved.flow.stages) {
    if (stage.id === stageId && "shownAgent" in stage) return stage.shownAgent;
    if (stage.kind !== "parallel") continue;
    for (const track of Object.values(stage.tracks)) {
      const found = track.stages.find(({ id }) => id === stageId);
      if (found !== undefined) return found.shownAgent;
    }
  }
  return stageId;
}
