// Gathers the facts for the prompt of one attempt: files, earlier handoffs, earlier answers, trust. It only reads; core composes the
// prompt.

import { readsInputs } from "../core/input/inputs-of.ts";
import { optional } from "../core/optional.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import type { EarlierAnswer, EarlierHandoff, PromptFacts } from "../core/prompt/prompt.ts";
import { evidenceRows } from "../core/verdict/criteria.ts";
import { gateTrust } from "../core/run/trust.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readAgentFile } from "./attempt-files.ts";
import type { HandedOver } from "./handed-over.ts";
import { historyOf } from "./prompt-history.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import { interruptedWork } from "./interruption.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { bundlesOf, runInputs } from "./run-inputs.ts";
import { rowIn } from "./next-row.ts";

const CARRIED_FILE_BYTES = 256 * 1024;

export type PromptPlace = {
  readonly workspace: Workspace;
  /** Where the agent works. */
  readonly dir: string;
  readonly head: string | null;
  readonly handed: HandedOver;
};

export async function promptFacts(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, dir, head, handed }: PromptPlace,
): Promise<PromptFacts> {
  const attempts = await ports.earlierAttempts();
  const first = attempts.map(attemptFacts).find(({ from }) => from !== null)?.from;
  return {
    nonce: job.nonce,
    token: job.token,
    verdictFile: job.files.verdict,
    handoffFile: handed.own,
    url: job.url,
    branch: workspace.branch ?? "",
    earlier: attempts.flatMap((attempt) => toEarlier(job, handed, attempt)),
    answers: earlierAnswers(attempts.filter(({ stage }) => stage === job.stage.id)),
    trust: await trustOf(job, ports, { workspace, head, attempts }),
    files: await promptFiles(job, workspace.dir, dir),
    ...optional({ row: rowOf(job, attempts), verifies: verifiedRows(job, attempts) }),
    diffRange: first !== undefined && head !== null ? `${first}..HEAD` : "",
    attempt: job.attempt,
    history: await historyOf(job, ports, workspace, attempts, head),
    ...optional({ interrupted: await interruptedWork(job, ports, workspace, attempts) }),
  };
}

/** The box that this round works on, as the foreach stage found it last. */
function rowOf({ stage }: AttemptJob, attempts: readonly EarlierAttempt[]): string | undefined {
  if (stage.row === undefined) return undefined;
  const looks = attempts.filter((each) => each.stage === stage.row).map(rowIn);
  return looks.findLast((row) => row !== undefined);
}

/** What Passrail found out about the rows of the stage that this one checks, after its last attempt. */
function verifiedRows({ stage }: AttemptJob, attempts: readonly EarlierAttempt[]): PromptFacts["verifies"] {
  const { verifies } = stage;
  const last = attempts.findLast((each) => each.stage === verifies && each.status === "done");
  if (verifies === undefined || last === undefined) return undefined;
  return { stage: verifies, attempt: last.attempt, rows: evidenceRows(last.outcome?.["evidence"]) };
}

/** The results of checks count for exactly the files that this attempt finds. */
async function trustOf(
  { resolved, stage }: AttemptJob,
  { workspaces }: AttemptPorts,
  { workspace, head, attempts }: { workspace: Workspace; head: string | null; attempts: readonly EarlierAttempt[] },
): Promise<PromptFacts["trust"]> {
  if (stage.gates === undefined) return [];
  const state = await workspaces.tree?.(workspace);
  const isClean = state?.ok === true && state.value.changed.length === 0 && !state.value.hasUntracked;
  const now = isClean ? { commit: head, tree: state.value.tree } : { commit: null, tree: null };
  return gateTrust(resolved.flow, attempts, stage.gates.trust, now);
}

/** The part that is stored with the attempt: a person's answer, and whether the gates before it were trusted. */
export function notedFacts({ carry, rung }: Pick<AttemptJob, "carry" | "rung">, { trust }: PromptFacts): JsonObject {
  return {
    ...(rung == null ? {} : { rung: { ...rung, passed: rung.passed.map((each) => ({ ...each })) } }),
    ...(carry.reason === "answered" && carry.said !== undefined ? { answer: carry.said } : {}),
    ...(trust.length === 0 ? {} : { trust: trust.map((found) => ({ ...found })) }),
  };
}

async function promptFiles(job: AttemptJob, workspaceDir: string, dir: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const read = async (name: string, root: string, path: string): Promise<void> => {
    const text = await readAgentFile(root, path, CARRIED_FILE_BYTES);
    if (text !== undefined) files[name] = text;
  };
  const shown = job.stage.kind === "router" ? job.stage.reads : [];
  for (const name of [...job.carry.names, ...job.stage.carryOnRetry, ...shown]) {
    if (name.includes("/") || name.includes(".")) await read(name, workspaceDir, join(dir, name));
  }
  Object.assign(files, inputFiles(job));
  for (const name of job.stage.inline) {
    const text = job.resolved.prompts[`fragments/inline-${name}`];
    if (text !== undefined) files[`inline-${name}`] = text;
  }
  return files;
}

/** The texts that a person agreed to; bundles follow from them, so that a file that an agent changed is not read. */
function inputFiles({ resolved: { flow }, run, stage, home, project }: AttemptJob): Record<string, string> {
  if (!readsInputs(stage)) return {};
  const sources = runInputs({ home, project }, run);
  const named = { spec: sources.spec?.text, task: sources.task?.text };
  const hasBundles = flow.stages.some(
    (each) => each.kind === "builtin" && readsInputs(each) && run.stages[each.id]?.last?.health === "complete",
  );
  return { ...optional(named), ...(hasBundles ? bundlesOf(sources) : {}) };
}

/** Every round of questions and answers of this stage before the one in this prompt. */
function earlierAnswers(attempts: readonly EarlierAttempt[]): EarlierAnswer[] {
  const done = attempts.filter(({ status }) => status === "done");
  return done.flatMap((attempt, index) => {
    const { answer, answers } = attemptFacts(attempt);
    const inPlace = answers.map((each) => ({ questions: [each.question], answer: each.answer }));
    const questions = done[index - 1]?.outcome?.["questions"];
    const texts = Array.isArray(questions) ? questions.filter((text) => typeof text === "string") : [];
    return [...(answer === null ? [] : [{ questions: texts, answer }]), ...inPlace];
  });
}

function toEarlier(job: AttemptJob, handed: HandedOver, record: EarlierAttempt): EarlierHandoff[] {
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
      // An agent that reports by a handoff file left it; the next one reads it there.
      path: text("path") ?? handed.pathOf(record.stage, record.attempt),
    },
  ];
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
