// The agent gets its prompt and answers. Passrail asks once more where the verdict cannot be read, and composes the whole prompt again
// where the earlier session is gone.

import { join } from "node:path";
import { findingsOf } from "../core/finding/finding.ts";
import { type WorkStage, worksOf } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import { attemptLimits, limitsSaid } from "../core/flow/attempt-limits.ts";
import { routerPool } from "../core/flow/router-pool.ts";
import { type RunnerChoice, writesFiles } from "../core/flow/runner-choice.ts";
import { optional } from "../core/optional.ts";
import { nonceRule } from "../core/prompt/form.ts";
import { composeBlocks, composeRepair, composeResumed, type PromptFacts, wholePrompt } from "../core/prompt/prompt.ts";
import { amountText } from "../core/budget/budget.ts";
import { reachedText } from "../core/budget/room.ts";
import { runFacts } from "../core/run/facts.ts";
import { openFor } from "../core/run/review.ts";
import { factOf } from "../core/run/sequence.ts";
import { OVER_BUDGET } from "../core/run/spending.ts";
import type { ReportReading } from "../core/verdict/contract.ts";
import { coveredRows } from "../core/verdict/coverage.ts";
import { taskRows } from "../core/verdict/task-rows.ts";
import { nativeSchema, submissionSchema } from "../core/verdict/submission.ts";
import type { AttemptEnd, Session } from "../runner/runner.ts";
import { sessionUsage } from "../runner/session-usage.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { wantedNotes } from "./as-built.ts";
import { acceptSubmitted } from "./accept-submitted.ts";
import { attemptEnvironment } from "./attempt-environment.ts";
import { attemptFiles, setAside, turnFiles, writeRecord } from "./attempt-files.ts";
import { type OpenConversation, openConversation } from "./conversation.ts";
import { failpoint } from "./failpoint.ts";
import type { HandedOver } from "./handed-over.ts";
import { continuedSession } from "./continued-session.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { type KeptResult, memoKey, memoPorts, takeMemo } from "./memo.ts";
import { notedFacts, promptFacts } from "./prompt-facts.ts";
import { createPrompts, type Prompts, type ReadContext, REPLACED_REVIEW, squeezed, textsOf } from "./read-context.ts";
import { readReport } from "./read-report.ts";
import { ticketImages } from "./ticket-images.ts";
import type { StoppedWork } from "./watch-work.ts";

export type ConversePlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  /** The commit that its work is compared with. */
  readonly from: string | null;
  /** The commit that it finds. */
  readonly head: string | null;
  /** Where the agent works: the workspace, or its track's folder in it. */
  readonly dir: string;
  /** The handoffs of others, and where its own goes. */
  readonly handed: HandedOver;
};

export type Conversed = {
  readonly end: AttemptEnd;
  readonly reading: ReportReading;
  readonly repaired: boolean;
  readonly session: Session | null;
  readonly usage: Report["usage"];
  /** What the attempt's gateway refused, or never saw. */
  readonly warnings: readonly string[];
  /** Under which key its result is kept; absent where the stage has no memo. */
  readonly memo?: KeptResult;
};

/** Between TERM and KILL; agents get a moment to save their work. */
const GRACE_MS = 5000;

export async function converse(job: AttemptJob, ports: AttemptPorts, place: ConversePlace): Promise<Conversed> {
  const { stage } = job;
  const { workspace, dir, handed } = place;
  const prompts = createPrompts();
  const said = limitsSaid(runFacts(job.run).config.limits, stage.id);
  const shown = ticketImages(job);
  const facts = {
    ...(await promptFacts(job, ports, { workspace, dir, head: place.head, handed })),
    images: shown.images,
  };
  const context = await readContext(job, ports, place, prompts, facts);
  const key = await keyIn(job, ports, place);
  const known = key === undefined ? undefined : await takeMemo(job, ports, place, key);
  if (known !== undefined)
    return {
      end: known.end,
      reading: known,
      repaired: false,
      session: null,
      usage: nothingUsed(place.play),
      warnings: [],
    };
  let isPersonal = false;
  const onPerson = (): void => void (isPersonal = true);
  const talked = await talk(job, ports, place, { prompts, said, shown, facts, context, onPerson });
  // What a person said while it worked is no part of the key.
  return key === undefined || isPersonal ? talked : { ...talked, memo: { key, report: talked.reading.report } };
}

/** Of the whole prompt, as it would be said if other tracks had not begun. */
async function keyIn(job: AttemptJob, ports: AttemptPorts, place: ConversePlace): Promise<string | undefined> {
  if (job.stage.memo !== true) return undefined;
  const { resolved, run, track, stage, carry } = job;
  const alone = memoPorts(job, ports);
  const { workspace, dir, head, handed } = place;
  const facts = await promptFacts(job, alone, { workspace, dir, head, handed });
  return memoKey(job, alone, place, wholePrompt(composeBlocks({ resolved, run, track, stage, carry, facts })));
}

/** What was put aside for the attempt is free again. */
function nothingUsed({ runner, options }: RunnerChoice): Report["usage"] {
  const usage = { usd: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return runner === "command" ? undefined : { runner, model: options.model ?? null, usage };
}

type Talk = {
  readonly prompts: Prompts;
  readonly said: ReturnType<typeof limitsSaid>;
  readonly shown: ReturnType<typeof ticketImages>;
  readonly facts: PromptFacts;
  readonly context: ReadContext;
  /** Called when a person's words reach the agent. */
  readonly onPerson: () => void;
};

async function talk(
  job: AttemptJob,
  ports: AttemptPorts,
  place: ConversePlace,
  { prompts, said, shown, facts, context, onPerson }: Talk,
): Promise<Conversed> {
  const { stage, resolved } = job;
  const { play, workspace, dir, handed } = place;
  const conversation = await openConversation(job, ports, {
    play,
    workspace,
    reads: [...handed.folders, ...shown.folders],
    images: shown.images.flatMap(({ path }) => path ?? []),
    cwd: dir,
    env: attemptEnvironment(job, workspace, play.runner === "command" && context.nonceRule === "optional"),
    onSaid: (text) => {
      onPerson();
      prompts.add(text);
    },
    limits: { ...attemptLimits(stage.limits, play.options.teams, said), graceMs: GRACE_MS },
    // Where the attempt began, also if it never ends.
    noted: { ...notedFacts(job, facts), from: place.from },
    offered: offersDesk(stage)
      ? {
          schema: submissionSchema(
            resolved.flow,
            stage,
            context.knownAgents,
            context.nonceRule === "required",
            offeredFindings(job),
          ),
          accept: (text) => acceptSubmitted(context, text),
        }
      : null,
  });
  try {
    // A prompt names no tool that cannot be reached from inside.
    const hasDesk = play.runner !== "command" && ports.workspaces.ownNetwork?.type !== "apart";
    const promptFacts = {
      ...facts,
      submits: hasDesk && offersDesk(stage),
      mayAsk: hasDesk && play.questions === "ask",
    };
    const answered = await sayPrompt(job, ports, place, listened(conversation, prompts), promptFacts);
    const end = await sayMessages(job, ports, conversation, answered);
    failpoint("attempt-ended");
    const first = await readReport(context, end, conversation.submitted());
    const isSaid = conversation.submitted() !== undefined || endedWithWord(end, first);
    const stopped = isSaid ? undefined : conversation.stopped();
    if (stopped !== undefined) {
      const reading = { report: { ...stoppedReport(stopped), ...optional({ summary: first.report.summary }) } };
      return { end, reading, repaired: false, ...told(conversation) };
    }
    const heard = { end, reading: first };
    const last = await repairIfUnreadable(job, ports, listened(conversation, prompts), context, promptFacts, heard);
    const { reading } = last;
    return {
      ...last,
      reading: reading.unreadable === undefined ? reading : refusedPermissions(play, last.end, reading),
      ...told(conversation),
    };
  } finally {
    await conversation.close();
  }
}

function told(conversation: OpenConversation): Pick<Conversed, "session" | "usage" | "warnings"> {
  return { session: conversation.session(), usage: conversation.usage(), warnings: conversation.warnings() };
}

/** It came to its end by itself and said how the work went: that its last request used up a budget changes nothing about that. */
function endedWithWord({ reason }: AttemptEnd, { report, unreadable }: ReportReading): boolean {
  return (reason === "exited" || reason === "finished") && unreadable === undefined && report.cause === undefined;
}

/** Passrail ended the program, so neither its exit nor what it wrote says how the work went. */
function stoppedReport(stopped: StoppedWork): Report {
  if (stopped.by === "vendor") {
    const { kind, message, resetsAt } = stopped.failure;
    return { cause: kind, reason: message, ...optional({ resetsAt }) };
  }
  if (stopped.by === "loop") return { cause: "tool_loop", reason: `stopped: ${stopped.loop}` };
  if (stopped.by === "cost") {
    const [cost, limit] = [amountText("usd", stopped.usd), amountText("usd", stopped.limit)];
    return {
      cause: "budget",
      reason: `stopped: it cost ${cost} of the ${limit} of an attempt; allow more with \`max_cost\``,
    };
  }
  return { cause: OVER_BUDGET, reason: `stopped: ${reachedText(stopped.limit)}`, reached: stopped.limit };
}

/** The conversation, with every prompt remembered: what the agent only repeats from it is no verdict. */
function listened(conversation: OpenConversation, prompts: Prompts): OpenConversation {
  return {
    ...conversation,
    say: (text, how) => {
      prompts.add(wholePrompt({ standing: how.standing ?? "", now: text }));
      return conversation.say(text, how);
    },
  };
}

/** The whole prompt, or, in a session that can be resumed, only the news. */
async function sayPrompt(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, from, workspace }: ConversePlace,
  conversation: OpenConversation,
  promptFacts: PromptFacts,
): Promise<AttemptEnd> {
  const { files, resolved, run, track, stage, carry } = job;
  const context = { resolved, run, track, stage, carry, facts: promptFacts };
  const { standing, now } = composeBlocks(context);
  const say = async (text: string, record: string, session?: Session): Promise<AttemptEnd> => {
    // Before the program can do anything: its work belongs to the stage even if its process is never recorded.
    const begun = { runner: play.runner, from };
    await Promise.all([ports.note(begun), writeRecord(files, files.prompt, forRecord(job, ports, record))]);
    failpoint("prompt-written");
    return conversation.say(text, { outputPath: files.output, standing, ...optional({ session }) });
  };
  const earlier = play.runner === "command" ? undefined : await sessionToResume(job, ports, play, workspace);
  if (earlier !== undefined) {
    const news = composeResumed(context);
    const end = await say(news, news, earlier);
    // A lost session loses only its memory: the whole prompt says everything again.
    if (end.conversation?.failure?.kind !== "session_lost") return end;
  }
  return say(now, wholePrompt({ standing, now }));
}

/** What people said meanwhile and the program could not take becomes its next turns, in the same session. */
async function sayMessages(
  job: AttemptJob,
  ports: AttemptPorts,
  conversation: OpenConversation,
  answered: AttemptEnd,
): Promise<AttemptEnd> {
  let end = answered;
  for (let turn = 2; ; turn += 1) {
    const session = conversation.session();
    const isOver = end.conversation === undefined || end.conversation.failure !== null || ports.signal.aborted;
    const isStopped = conversation.stopped() !== undefined;
    if (session === null || isOver || isStopped || ports.messages.waiting().length === 0 || (await ports.isSettled()))
      return end;
    const message = conversation.takeMessage();
    if (message === undefined) return end;
    const { prompt, output } = turnFiles(job.files, turn);
    await writeRecord(job.files, prompt, forRecord(job, ports, message.text));
    end = await conversation.say(message.text, { outputPath: output, session, message });
  }
}

type Heard = { readonly end: AttemptEnd; readonly reading: ReportReading };

/** Asks once more for a verdict that cannot be read; the first reading counts where the second is no better. */
async function repairIfUnreadable(
  job: AttemptJob,
  ports: AttemptPorts,
  conversation: OpenConversation,
  context: ReadContext,
  promptFacts: PromptFacts,
  heard: Heard,
): Promise<Heard & { readonly repaired: boolean }> {
  const { unreadable } = heard.reading;
  const isWanted = factOf(job.run, ["config", "verdict_repair"]) !== false;
  if (unreadable === undefined || !isWanted || ports.signal.aborted || (await ports.isSettled()))
    return { ...heard, repaired: false };
  const { resolved, run, track, stage, carry } = job;
  const repair = composeRepair({ resolved, run, track, stage, carry, facts: promptFacts }, unreadable.message);
  const end = withDenials(await sayRepair(job, ports, conversation, context, repair), heard.end);
  const second = await readReport(context, end, conversation.submitted());
  if (second.unreadable !== undefined || second.report.cause !== undefined)
    return { end, reading: heard.reading, repaired: true };
  const warning = `verdict_repaired: the first verdict was not accepted (${unreadable.message})`;
  const report = { ...second.report, warnings: [...(second.report.warnings ?? []), warning] };
  return { end, reading: { report }, repaired: true };
}

/** The repair repeats none of what the first round was refused. */
function withDenials(end: AttemptEnd, before: AttemptEnd): AttemptEnd {
  const earlier = before.conversation?.denials ?? [];
  if (end.conversation === undefined || earlier.length === 0) return end;
  const denials = [...new Set([...earlier, ...end.conversation.denials])];
  return { ...end, conversation: { ...end.conversation, denials } };
}

/** In the same session where there is one, else in a new run of the program. */
async function sayRepair(
  job: AttemptJob,
  ports: AttemptPorts,
  conversation: OpenConversation,
  context: ReadContext,
  repair: string,
): Promise<AttemptEnd> {
  const { files, resolved, stage } = job;
  await writeRecord(files, files.repairPrompt, forRecord(job, ports, repair));
  await setAside(files.home, files.verdict, files, "rejected-verdict.json");
  const session = conversation.session();
  return conversation.say(repair, {
    outputPath: files.repairOutput,
    env: { PASSRAIL_REPAIR: "1" },
    ...(session === null ? {} : { session }),
    ...(offersDesk(stage)
      ? {
          schema: nativeSchema(
            resolved.flow,
            stage,
            context.knownAgents,
            context.nonceRule === "required",
            context.findingIds,
          ),
        }
      : {}),
  });
}

/** An agent that was refused a permission has not failed at its task: a person decides, or the report names the refusal. */
function refusedPermissions(play: RunnerChoice, end: AttemptEnd, reading: ReportReading): ReportReading {
  const denials = end.conversation?.denials ?? [];
  if (denials.length === 0) return reading;
  const list = denials.slice(0, 20).join("\n");
  if (play.options.permission === "ask" && play.questions === "ask") {
    const question = `Its program refused this to the agent, and it gave no verdict:\n${list}\nHow shall it go on?`;
    const { summary = "" } = reading.report;
    return { report: { health: "blocked", structured: true, asked: true, questions: [question], summary } };
  }
  const reason = `the agent gave no verdict after it was refused: ${denials.slice(0, 3).join("; ")}`;
  return { report: { ...reading.report, cause: "denied", reason } };
}

/** The answer itself is the result of a stage with prefixes; every other result can be submitted. */
function offersDesk(stage: WorkStage): boolean {
  return stage.result.from !== "prefix";
}

/** Vendors count over the whole session: what the attempt that was cut off has used is not used once more. */
async function sessionToResume(
  job: AttemptJob,
  ports: AttemptPorts,
  play: RunnerChoice,
  workspace: Workspace,
): Promise<Session | undefined> {
  const { stage, attempt, carry } = job;
  const next = { stage: stage.id, attempt, carry, session: play.session };
  const found = continuedSession(next, await ports.earlierAttempts(), play.runner);
  if (found?.cutOff !== true) return found?.session;
  const { environment } = ports.runners.runnerFor(play);
  const confined = await ports.workspaces.privateFolders?.(workspace);
  const inFile = () => sessionUsage(play.runner, found.session.id, { env: environment, cwd: job.project, confined });
  return { ...found.session, totals: found.session.totals ?? inFile() };
}

/** A prompt as it is kept: whoever reads the file must not be able to speak for the attempt. */
function forRecord({ nonce, token }: AttemptJob, { runners }: AttemptPorts, text: string): string {
  return runners.redact(text.replaceAll(nonce, "[nonce]").replaceAll(token, "[token]"));
}

async function readContext(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, dir, handed, play }: ConversePlace,
  prompts: Prompts,
  facts: PromptFacts,
): Promise<ReadContext> {
  const { stage, run, track, resolved } = job;
  const spoken =
    stage.findings === undefined
      ? openFor({ flow: resolved.flow, run }, track, stage)
      : findingsOf(run.findings, stage.id);
  const known = await textsOf(job.files.home, earlierResults(job));
  return {
    flow: job.resolved.flow,
    stage,
    subjectId: job.run.subject.id,
    iteration: job.attempt,
    nonce: job.nonce,
    nonceRule: nonceRule(job.resolved, stage),
    isQuoted: (block) => prompts.holds(block),
    isKnownFile: (text) => known.has(squeezed(text)),
    workspaceDir: dir,
    workspaceRoot: workspace.dir,
    files: job.files,
    ...(handed.inWorkspace ? { handoffInWorkspace: handed.own } : {}),
    knownAgents: stage.kind === "router" ? routerPool(job.resolved, stage) : Object.keys(job.resolved.agents),
    writesFiles: writesFiles(play),
    readYaml: ports.readYaml,
    redact: ports.runners.redact,
    ...optional({ findings: run.findings, notes: wantedNotes(job) }),
    findingIds: spoken.map(({ id }) => id),
    taskRows: stage.findings === "rows" ? taskRows(facts.files["task"] ?? "") : [],
    covered: coveredRows(stage, facts.files["task"] ?? ""),
    toVerify: (facts.verifies?.rows ?? []).filter(({ isMet }) => isMet === true).map(({ what }) => what),
  };
}

/** Whether the tool has a place for answers to findings: as the flow is, not as the run stands. */
function offeredFindings({ resolved, stage }: AttemptJob): "any" | readonly string[] {
  const isTracked = resolved.flow.stages.flatMap(worksOf).some(({ findings }) => findings === "ids");
  return isTracked && stage.findings !== "rows" ? "any" : [];
}

/** Handoffs of this stage's earlier attempts, and the reviews that were moved away before each attempt. */
function earlierResults({ home, run, stage, attempt, files }: AttemptJob): readonly string[] {
  const before = Array.from({ length: attempt - 1 }, (_, index) => attemptFiles(home, run.id, stage.id, index + 1));
  const reviews = [...before, files].map((each) => join(each.dir, REPLACED_REVIEW));
  return [...before.map((each) => each.handoff), ...reviews];
}
