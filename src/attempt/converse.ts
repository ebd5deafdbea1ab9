// The agent gets its prompt and answers. Passrail asks once more where the verdict cannot be read, and composes the whole prompt again
// where the earlier session is gone.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import { optional } from "../core/optional.ts";
import { composePrompt, composeRepair, composeResumed, type PromptFacts } from "../core/prompt/prompt.ts";
import { factOf } from "../core/run/sequence.ts";
import type { ReportReading } from "../core/verdict/contract.ts";
import { nativeSchema, submissionSchema } from "../core/verdict/submission.ts";
import type { AttemptEnd, Session } from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { attemptEnvironment } from "./attempt-environment.ts";
import { setAside, writeRecord } from "./attempt-files.ts";
import { type OpenConversation, openConversation } from "./conversation.ts";
import { failpoint } from "./failpoint.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { notedFacts, promptFacts } from "./prompt-facts.ts";
import { type ReadContext, readReport, readSubmitted } from "./read-report.ts";

export type ConversePlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  /** The commit that the attempt started from. */
  readonly from: string | null;
  /** Where the agent works: the workspace, or its track's folder in it. */
  readonly dir: string;
};

export type Conversed = {
  readonly end: AttemptEnd;
  readonly reading: ReportReading;
  readonly repaired: boolean;
  readonly session: Session | null;
  readonly usage: Report["usage"];
};

/** Between TERM and KILL; agents get a moment to save their work. */
const GRACE_MS = 5000;

export async function converse(job: AttemptJob, ports: AttemptPorts, place: ConversePlace): Promise<Conversed> {
  const { stage, resolved } = job;
  const { play, workspace, dir } = place;
  const context = readContext(job, ports, dir);
  const facts = await promptFacts(job, ports, { workspace, dir, head: place.from });
  const conversation = await openConversation(job, ports, {
    play,
    workspace,
    cwd: dir,
    env: attemptEnvironment(job, workspace),
    limits: { ...stage.limits, graceMs: GRACE_MS },
    noted: notedFacts(job, facts),
    offered: offersDesk(stage)
      ? {
          schema: submissionSchema(resolved.flow, stage, context.knownAgents),
          accept: (text) => readSubmitted(context, text),
        }
      : null,
  });
  try {
    const promptFacts = { ...facts, submits: play.runner !== "command" && offersDesk(stage) };
    const end = await sayPrompt(job, ports, play, conversation, promptFacts);
    failpoint("attempt-ended");
    const first = await readReport(context, end, conversation.submitted());
    const last = await repairIfUnreadable(job, ports, conversation, context, promptFacts, { end, reading: first });
    const { reading } = last;
    return {
      ...last,
      reading: reading.unreadable === undefined ? reading : refusedPermissions(play, last.end, reading),
      session: conversation.session(),
      usage: conversation.usage(),
    };
  } finally {
    await conversation.close();
  }
}

/** The whole prompt, or, in a session that can be resumed, only the news. */
async function sayPrompt(
  job: AttemptJob,
  ports: AttemptPorts,
  play: RunnerChoice,
  conversation: OpenConversation,
  promptFacts: PromptFacts,
): Promise<AttemptEnd> {
  const { files, resolved, run, track, stage, carry } = job;
  const context = { resolved, run, track, stage, carry, facts: promptFacts };
  const say = async (text: string, session?: Session): Promise<AttemptEnd> => {
    await writeRecord(files.prompt, ports.runners.redact(text));
    failpoint("prompt-written");
    return conversation.say(text, { outputPath: files.output, ...optional({ session }) });
  };
  const earlier = play.runner === "command" ? undefined : await sessionToResume(job, ports, play);
  if (earlier !== undefined) {
    const end = await say(composeResumed(context), earlier);
    // A lost session loses only its memory: the whole prompt says everything again.
    if (end.conversation?.failure?.kind !== "session_lost") return end;
  }
  return say(composePrompt(context));
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
  if (unreadable === undefined || !isWanted || ports.signal.aborted || ports.isSettled())
    return { ...heard, repaired: false };
  const { resolved, run, track, stage, carry } = job;
  const repair = composeRepair({ resolved, run, track, stage, carry, facts: promptFacts }, unreadable.message);
  const end = await sayRepair(job, ports, conversation, context, repair);
  const second = await readReport(context, end, conversation.submitted());
  if (second.unreadable !== undefined || second.report.cause !== undefined)
    return { end, reading: heard.reading, repaired: true };
  const warning = `verdict_repaired: the first verdict was not accepted (${unreadable.message})`;
  const report = { ...second.report, warnings: [...(second.report.warnings ?? []), warning] };
  return { end, reading: { report }, repaired: true };
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
  await writeRecord(files.repairPrompt, ports.runners.redact(repair));
  await setAside(files.verdict, files, "rejected-verdict.json");
  const session = conversation.session();
  return conversation.say(repair, {
    outputPath: files.repairOutput,
    env: { PASSRAIL_REPAIR: "1" },
    ...(session === null ? {} : { session }),
    ...(offersDesk(stage) ? { schema: nativeSchema(resolved.flow, stage, context.knownAgents) } : {}),
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

/** The session of this stage's last attempt, where the same runner played it and the flow resumes sessions. */
async function sessionToResume(job: AttemptJob, ports: AttemptPorts, play: RunnerChoice): Promise<Session | undefined> {
  const { reason } = job.carry;
  const wanted =
    (reason === "answered" && play.session !== "clean") ||
    (play.session === "resume" && (reason === "sent-back" || reason === "again"));
  if (!wanted) return undefined;
  const own = (await ports.earlierAttempts()).filter(
    (attempt) => attempt.stage === job.stage.id && attemptFacts(attempt).runner === play.runner,
  );
  const last = own.at(-1);
  return last === undefined ? undefined : (attemptFacts(last).session ?? undefined);
}

function readContext(job: AttemptJob, ports: AttemptPorts, dir: string): ReadContext {
  const { stage } = job;
  return {
    flow: job.resolved.flow,
    stage,
    subjectId: job.run.subject.id,
    nonce: job.nonce,
    workspaceDir: dir,
    files: job.files,
    // A router chooses others, never itself.
    knownAgents: Object.keys(job.resolved.agents).filter((name) => stage.kind !== "router" || name !== stage.agent),
    readYaml: ports.readYaml,
    redact: ports.runners.redact,
  };
}
