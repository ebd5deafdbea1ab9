// Composes the prompt of an attempt. The flow names its parts, most static first, so that vendors' prompt caches can reuse the beginning;
// nothing before the handoff part depends on time, attempt or chance. Text that others wrote is put into marked blocks.

import { joinedBefore } from "../run/track-branch.ts";
import { runFacts } from "../run/facts.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import { judgingCounter, MAIN_TRACK, type WorkStage } from "../flow/flow.ts";
import { type Issue, wholeIssueText } from "../flow/outcome.ts";
import { routerPool } from "../flow/router-pool.ts";
import { type DeveloperTrust, trustText } from "../run/trust.ts";
import { counterKey } from "../run/counting.ts";
import { pinnedOf } from "../run/pinned.ts";
import { openMessages, waitingMessages } from "../run/message.ts";
import type { Carry, Run } from "../run/run.ts";
import { factOf, isWork } from "../run/sequence.ts";
import { fillPrompt } from "../flow/template.ts";
import { type FindingContext, openFindings, reviewFindings } from "./findings.ts";
import { documentLines } from "./documents.ts";
import { formText } from "./form.ts";
import { type History, historyText } from "./history.ts";
import { handedBackText } from "./handed-back.ts";
import { type InterruptedWork, interruptedText, type ConversationMemory } from "./interrupted.ts";
import { messagesText } from "./messages.ts";
import { preCheckText, type VerifiedRows } from "./pre-check.ts";
import { imagesText, type TicketImage } from "./images.ts";
import { block, fenced, oneLine } from "./quote.ts";

/** The engine's additions to the run for one attempt. */
export type PromptFacts = {
  readonly nonce: string;
  /** The program authenticates to the API with it. */
  readonly token: string;
  readonly verdictFile: string;
  readonly handoffFile: string;
  readonly url: string;
  readonly branch: string;
  /** The handoffs of earlier attempts that ended, oldest first. */
  readonly earlier: readonly EarlierHandoff[];
  /** Rounds of questions of this stage before the one that its carry brings. */
  readonly answers: readonly EarlierAnswer[];
  /** Whether the quality gates of those who built are trusted; empty for stages that the flow does not ask this of. */
  readonly trust: readonly DeveloperTrust[];
  /** The stage whose met rows this one checks, and what Passrail found at the places that they cite. */
  readonly verifies?: VerifiedRows;
  /** Those that the ticket's text shows. */
  readonly images?: readonly TicketImage[];
  /** Texts of files that the flow names: bundles, carried files. */
  readonly files: Readonly<Record<string, string>>;
  /** The row of a plan that this round works on. */
  readonly row?: string;
  readonly diffRange: string;
  /** The number of this attempt: the iteration that its report names. */
  readonly attempt: number;
  readonly history: History;
  /** The attempt before this one was cut off. */
  readonly interrupted?: InterruptedWork;
  /** Whether the agent has a tool to ask a person. */
  readonly mayAsk?: boolean;
  /** Whether verdicts can be submitted by a tool; the form that the flow names is then only the second way. */
  readonly submits?: boolean;
};

export type EarlierHandoff = {
  readonly stage: string;
  readonly agent: string;
  readonly attempt: number;
  readonly word: string;
  readonly summary: string;
  readonly path: string | null;
};

export type EarlierAnswer = { readonly questions: readonly string[]; readonly answer: string };

/** Everything that a prompt is made of. */
export type PromptContext = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly track: string;
  readonly stage: WorkStage;
  readonly carry: Carry;
  readonly facts: PromptFacts;
};

/**
 * A prompt in its two blocks. Runners give the first to the model as a system prompt, which vendors keep in their caches; nothing in it
 * signs a verdict or names the place of one.
 */
export type ComposedPrompt = {
  /** The same at every attempt of a stage in a run; empty where the flow begins with a part that changes. */
  readonly standing: string;
  readonly now: string;
};

export function composeBlocks(context: PromptContext): ComposedPrompt {
  const { stage } = context;
  const names = stage.promptFile === undefined ? stage.prompt : FILE_PROMPT;
  const changing = names.findIndex((name) => !STANDING.has(name));
  const parts = names.map((name) => PARTS[name]?.(context) ?? "");
  // Only the prompt says where a verdict goes and what signs it, so an agent whose flow forgot this part could never end.
  if (!names.some((name) => TELLS_FORM.has(name))) parts.push(outputFormat(context));
  const count = changing < 0 ? names.length : changing;
  parts.push(imagesText(context.facts.images ?? []), messagesText(openMessages(context.run, stage.id)));
  const now = joined([interruptionOf(context, "none"), personsWork(context), ...parts.slice(count)]);
  return { standing: joined(parts.slice(0, count)), now: `${now}\n` };
}

/** The whole, in the order of the flow: for programs that take one text, and for the record. */
export function wholePrompt({ standing, now }: ComposedPrompt): string {
  return standing === "" ? now : `${standing}\n\n${now}`;
}

export function composePrompt(context: PromptContext): string {
  return wholePrompt(composeBlocks(context));
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** Parts that do not change between the attempts of a stage. A block of the prompt ends where the flow lists the first other one. */
const STANDING: ReadonlySet<string> = new Set([
  "agent",
  "agent.prompt",
  "bundle",
  "ticket",
  "feature.spec",
  "spec",
  "task",
  "constraints",
]);

/** The order for a stage with a prompt file of its own, which may hold the nonce. */
const FILE_PROMPT = ["agent", "constraints", "prompt-file", "handoffs", "history", "output-format", "revision-context"];

const TELLS_FORM: ReadonlySet<string> = new Set(["output-format", "instruction"]);

/** For an agent that resumes its own session: only the changes since its last prompt. */
export function composeResumed(context: PromptContext): string {
  const interruption = interruptionOf(context, "kept");
  // Its session holds those that it has heard.
  const said = messagesText(waitingMessages(context.run, context.stage.id));
  // Copies of an earlier attempt are gone.
  const images = imagesText(context.facts.images ?? []);
  const news = [interruption, personsWork(context), revisionContext(context), outputFormat(context), images, said];
  const parts = ["Go on with your work on this ticket.", ...news];
  return `${joined(parts)}\n`;
}

function personsWork({ carry: { handedBack } }: PromptContext): string {
  return handedBack === undefined ? "" : handedBackText(handedBack);
}

function interruptionOf({ facts: { interrupted } }: PromptContext, memory: ConversationMemory): string {
  return interrupted === undefined ? "" : interruptedText(interrupted, memory);
}

/** The one request to repeat a verdict that was not accepted. */
export function composeRepair(context: PromptContext, reason: string): string {
  const asked = fillPrompt(
    context.resolved.prompts["fragments/repair"] ??
      "Your verdict was not accepted because {{REASON}}. Repeat only the verdict.",
    {
      REASON: reason,
    },
  );
  return `${asked.trim()}\n\n${outputFormat(context)}\n`;
}

/** Names of parts that a flow may list, for the check. */
export function promptPartNames(): readonly string[] {
  return Object.keys(PARTS);
}

const PARTS: Readonly<Record<string, (context: PromptContext) => string>> = {
  agent: agentBody,
  "agent.prompt": agentBody,
  "prompt-file": promptFile,
  bundle: ({ stage, facts }) => {
    const text =
      stage.bundle === undefined || stage.bundle === "none" ? undefined : facts.files[`${stage.bundle}-bundle.md`];
    return text === undefined ? "" : block("Bundle", text);
  },
  ticket: ticketText,
  "feature.spec": ticketText,
  spec: ({ facts, run }) =>
    facts.files["spec"] === undefined
      ? ticketText({ run })
      : block(agreedTitle(run, "Specification", "plan.spec"), facts.files["spec"]),
  task: ({ facts, run }) =>
    facts.files["task"] === undefined ? "" : block(agreedTitle(run, "Task", "plan.task"), facts.files["task"]),
  handoffs: ({ facts }) => handoffsText(latestOf(facts.earlier)),
  "previous-handoff": previousHandoffs,
  history: (context) => historyText(context.facts.history, context.facts.attempt, roundsText(context)),
  constraints: ({ resolved }) => (resolved.prompts["fragments/constraints"] ?? "").trim(),
  "output-format": outputFormat,
  "revision-context": revisionContext,
  instruction: (context) =>
    [instructionText(context), revisionContext(context), outputFormat(context)]
      .filter((part) => part !== "")
      .join("\n\n"),
};

function agentBody({ resolved, stage }: PromptContext): string {
  return resolved.agents[stage.agent]?.prompt.trim() ?? "";
}

function promptFile(context: PromptContext): string {
  const { resolved, stage, run, facts } = context;
  const text = resolved.prompts[stage.promptFile ?? ""] ?? "";
  const parts = [text.trim(), mergeFragment(context)].filter((part) => part !== "");
  const filled = fillPrompt(parts.join("\n\n"), {
    USER_REQUEST: run.subject.body === "" ? run.subject.title : run.subject.body,
    TASK_ID: run.subject.id,
    TASK_TITLE: run.subject.title,
    TASK_DESCRIPTION: run.subject.body,
    BRANCH_NAME: facts.branch,
    REPO: runFacts(run).ticket.repo ?? "",
    REPOS: repositories(run),
    STAGE: stage.id,
    NONCE: facts.nonce,
  }).trim();
  return joined([filled, variantText(run)]);
}

/** A worker must know which of several ways it builds. */
function variantText(run: Run): string {
  const hint = runFacts(run).ticket.variantHint;
  if (hint === null || hint.trim() === "") return "";
  return block("This ticket is one of several variants: build this one, and only this one", hint.slice(0, 1000));
}

/** How an agent that writes tickets names a repository. */
function repositories(run: Run): string {
  const { repos } = runFacts(run).config;
  if (repos.length === 0) return "leave it out for this project's own repository, Passrail writes its name";
  return `\`"."\` for this project's own repository, otherwise one of ${repos.map((name) => oneLine(JSON.stringify(name))).join(", ")}`;
}

function mergeFragment({ resolved, run }: PromptContext): string {
  const { merge } = resolved.flow;
  if (merge === undefined) return "";
  const mode = runFacts(run).config.mergeMode || merge.default;
  return (resolved.prompts[`fragments/${merge.fragments[mode] ?? ""}`] ?? "").trim();
}

function ticketText({ run }: Pick<PromptContext, "run">): string {
  return joined([block(`Ticket ${run.subject.id}: ${run.subject.title}`, run.subject.body), variantText(run)]);
}

/** With its path. Where the file in the work tree differs, the text in the prompt is the one that a person agreed to. */
function agreedTitle(run: Run, title: string, name: string): string {
  const input = pinnedOf(run).inputs.find((each) => each.name === name);
  return input === undefined ? title : `${title}: ${input.path} (as agreed, sha256 ${input.sha256.slice(0, 12)})`;
}

/** The last report of each stage: a prompt must not grow with the number of loops. */
function latestOf(earlier: readonly EarlierHandoff[]): readonly EarlierHandoff[] {
  return earlier.filter((handoff, index) => !earlier.slice(index + 1).some((later) => later.stage === handoff.stage));
}

function handoffsText(earlier: readonly EarlierHandoff[]): string {
  if (earlier.length === 0) return "";
  const lines = earlier.map((handoff) => {
    const path = handoff.path === null ? "" : ` (handoff: ${handoff.path})`;
    return block(`Handoff from ${handoff.agent} (${handoff.stage}): ${handoff.word}${path}`, handoff.summary);
  });
  return lines.join("\n\n");
}

/** From the agent that sent the run here, and from those who built what it is about; after tracks from the last agent of each. */
function previousHandoffs({ resolved, stage, track, carry, facts }: PromptContext): string {
  const wanted = new Set<string>();
  for (const each of resolved.flow.stages) {
    const isJoin =
      each.kind === "parallel" && (each.id === carry.from || joinedBefore(resolved.flow, carry.from ?? "") === each);
    const plans = each.kind === "parallel" ? Object.entries(each.tracks) : [];
    const own = plans.filter(([name]) => track === MAIN_TRACK || name === track).map(([, plan]) => plan.stages);
    if (isJoin) for (const stages of own) wanted.add(stages.at(-1)?.id ?? "");
    for (const agent of [...own.flat(), ...(isWork(each) ? [each] : [])]) {
      if (agent.kind !== "agent" || agent.id === stage.id) continue;
      if (agent.id === carry.from || agent.produces.length > 0) wanted.add(agent.id);
    }
  }
  return handoffsText(latestOf(facts.earlier.filter((handoff) => wanted.has(handoff.stage))));
}

function instructionText(context: PromptContext): string {
  const { stage, facts, run } = context;
  const usual = `Do the work of the stage "${stage.title ?? stage.id}" now.`;
  const lines = [withFacts(stage.instruction ?? usual, run) ?? usual];
  if (facts.row !== undefined)
    lines.push(block("This round is about one row of the plan, and only about it", facts.row));
  const reads = stage.reads.flatMap((name) => withFacts(name, run) ?? []);
  if (reads.length > 0) lines.push(`Read, in this order: ${reads.join(", ")}.`);
  if (stage.writes.length > 0) lines.push(`Write: ${stage.writes.join(", ")}.`);
  if (stage.produces.length > 0) lines.push(`Your handoff must contain: ${stage.produces.join(", ")}.`);
  if (facts.diffRange !== "" && stage.reads.includes("git-diff"))
    lines.push(`The changes to review: git diff ${facts.diffRange}`);
  for (const name of stage.inline) {
    const text = facts.files[`inline-${name}`];
    if (text !== undefined) lines.push(text.trim());
  }
  if (stage.reads.includes("task")) lines.push(`The original task: ${run.subject.title}`);
  // A router has no tools: the prompt contains the files that it reads.
  for (const name of stage.kind === "router" ? stage.reads : []) {
    const text = facts.files[name];
    if (text !== undefined) lines.push(block(`File ${name}`, text));
  }
  if (stage.gates !== undefined) lines.push(trustText(stage.gates, facts.trust));
  if (facts.verifies !== undefined) lines.push(preCheckText(facts.verifies));
  lines.push(...documentLines(stage, (text) => withFacts(text, run)));
  const rounds = stage.prompt.includes("history") ? null : roundsText(context);
  if (rounds !== null) lines.push(rounds);
  return lines.join("\n");
}

const FACT = /\{([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+)\}/gu;

/** The text with `{plan.spec}` and the like filled in, each on one line; undefined if one has no value. Other braces stay as they are. */
function withFacts(text: string, run: Run): string | undefined {
  let complete = true;
  const filled = text.replace(FACT, (_place, path: string) => {
    const value = factOf(run, path.split("."));
    if (typeof value === "string" && value.trim() !== "") return oneLine(value);
    complete = false;
    return "";
  });
  return complete ? filled : undefined;
}

/** How often a stage that counts has judged in this round, and how often it may. */
function roundsText(context: PromptContext): string | null {
  const counter = judgingCounter(context.stage);
  if (counter === undefined) return null;
  const { loop, max } = shownLoop(context);
  return `This is ${counter} iteration ${loop + 1}${max === null ? ", without a limit" : ` of max ${max + 1}`}.`;
}

/** Loop number and earlier issues when the work came back; what a person said; nothing at all the first time. */
function revisionContext(context: PromptContext): string {
  const { carry, stage, resolved } = context;
  const { loop, max } = shownLoop(context);
  const lines: string[] = [];
  if (loop > 0) lines.push(`This is revision loop ${loop}${max === null ? "" : ` of ${max}`}.`);
  else if (carry.reason === "again" && max !== null)
    lines.push(`A person asked for this attempt; 0 of ${max} revision loops are used.`);
  if (carry.cutOff !== undefined) lines.push(carry.cutOff);
  const names = new Set([...carry.names, ...(carry.reason === "sent-back" ? stage.carryOnRetry : [])]);
  const files = [...names].flatMap((name) =>
    context.facts.files[name] === undefined ? [] : [{ name, text: context.facts.files[name] }],
  );
  // The content of a carried file is not repeated.
  const issues = carry.issues.filter((issue) => !files.some(({ text }) => text.includes(wholeIssueText(issue).trim())));
  if (issues.length > 0) lines.push("Issues to resolve, as they were reported:", listed(issues));
  const open = openFindings(findingContext(context), issues);
  if (open !== "") lines.push(open);
  for (const { questions, answer } of context.facts.answers)
    lines.push("Asked before:", listed(questions), block("Answer of the person then", answer));
  if (carry.questions.length > 0 && carry.reason === "answered")
    lines.push("Questions that were asked:", listed(carry.questions));
  if (carry.said !== undefined)
    lines.push(block(carry.reason === "answered" ? "Answer of the person" : "Note of the person", carry.said));
  for (const { name, text } of files) lines.push(block(`File ${name}`, text));
  if (carry.names.includes("format-reminder"))
    lines.push(fillPrompt(resolved.prompts["fragments/output-prefix"] ?? "", { NONCE: context.facts.nonce }).trim());
  if (mustAssume(context)) lines.push((resolved.prompts["fragments/assume-and-write"] ?? "").trim());
  if (lines.length === 0) return "";
  return ["## Why this comes to you again", ...lines].join("\n");
}

/** The last round has been answered: the agent must now decide without asking again. */
function mustAssume(context: PromptContext): boolean {
  const { carry, stage } = context;
  if (carry.names.includes("assume-and-write")) return true;
  const forced = Object.values(stage.route).some((route) => route.carry.includes("assume-and-write"));
  const { loop, max } = shownLoop(context);
  return forced && max !== null && loop >= max;
}

/** A stage that judges shows its own counter; one that works shows the loop that brought it the work. */
function shownLoop({ resolved, run, track, stage, carry }: PromptContext): { loop: number; max: number | null } {
  const name = judgingCounter(stage);
  const counter = name === undefined ? undefined : resolved.flow.counters[name];
  if (name === undefined || counter === undefined) return { loop: carry.loop, max: carry.loopMax };
  return {
    loop: run.counters[counterKey(counter, name, { track, stage: stage.id })]?.loops ?? 0,
    max: counter.maxLoops,
  };
}

function outputFormat(context: PromptContext): string {
  return [reviewFindings(findingContext(context)), verdictForm(context)].filter((part) => part !== "").join("\n\n");
}

function findingContext({ facts, ...context }: PromptContext): FindingContext {
  return { ...context, submits: facts.submits === true };
}

function verdictForm(context: PromptContext): string {
  const own = ownForm(context);
  if (context.facts.submits !== true) return [own, programForm(context)].filter((part) => part !== "").join("\n\n");
  return own === ""
    ? submitForm(context)
    : `${submitForm(context)}\n\nIf the tool is not there, end as follows.\n\n${own}`;
}

/** For a program without tools: the one place that every form leaves open, in words that a shell can read. */
function programForm({ resolved, stage, facts }: PromptContext): string {
  if (stage.result.from === "verdict-file" && stage.expectsVerdict) return "";
  const text = resolved.prompts["fragments/output-program"] ?? "";
  return fillPrompt(text, { VERDICT_FILE: facts.verdictFile, NONCE: facts.nonce }).trim();
}

function submitForm({ resolved, stage, facts }: PromptContext): string {
  const words = (stage.verdicts ?? Object.keys(resolved.flow.words.verdict)).join(" | ");
  const field =
    stage.kind === "router"
      ? "`stages`: the agents in the order in which they work."
      : stage.expectsVerdict
        ? `\`verdict\`: exactly one of these words, spelled so: ${words}.`
        : "`verdict`: leave it out; nobody asks you to judge here.";
  return fillPrompt(resolved.prompts["fragments/output-submit"] ?? "", {
    FIRST_FIELD: field,
    ASK: facts.mayAsk === true ? MAY_ASK : "",
    NONCE: facts.nonce,
  }).trim();
}

const MAY_ASK =
  "- `ask_human` puts one question to a person. If they answer at once, the answer comes back and you go on; otherwise your turn ends with the question. Use it only for what neither the ticket nor the repository can answer.";
const ASKING =
  "What only a person can answer, ask with `ask_human`, or put it under Open Questions with Status `blocked`.";
const NOT_ASKING =
  "You cannot ask the person: what you need to\nknow goes under Open Questions with Status `blocked`, and the pipeline asks for you.";

function ownForm(context: PromptContext): string {
  const { resolved, run, stage, facts } = context;
  const text = formText(resolved, stage);
  if (text === undefined || (stage.result.from === "verdict-file" && !stage.expectsVerdict)) return "";
  const words = stage.verdicts ?? Object.keys(resolved.flow.words.verdict);
  const following = resolved.flow.stages[resolved.flow.stages.findIndex(({ id }) => id === stage.id) + 1];
  return fillPrompt(text, {
    SUBJECT_KEY: `${resolved.flow.subject}_id`,
    SUBJECT_ID: run.subject.id,
    STORY_ID: run.subject.id,
    AGENT: stage.shownAgent,
    NEXT_AGENT:
      following !== undefined && following.kind === "agent"
        ? following.shownAgent
        : (resolved.flow.handoffs.exit ?? ""),
    NONCE: facts.nonce,
    WORDS: words.join(" | "),
    LOOP: String(shownLoop(context).loop),
    ITERATION: String(facts.attempt),
    ASKING: facts.mayAsk === true ? ASKING : NOT_ASKING,
    PATH:
      stage.result.from === "handoff-file"
        ? facts.handoffFile
        : stage.result.from === "file-verdict"
          ? (stage.result.path ?? "")
          : facts.verdictFile,
    DASHBOARD_URL: facts.url,
    TOKEN: facts.token,
    BRANCH: facts.branch,
    BRANCH_NAME: facts.branch,
    AGENTS: (stage.kind === "router" ? routerPool(resolved, stage) : Object.keys(resolved.agents))
      .flatMap((name) => resolved.agents[name] ?? [])
      .map(
        (agent) =>
          `- ${agent.name}: ${agent.description}${agent.skills.length === 0 ? "" : ` (skills: ${agent.skills.join(", ")})`}`,
      )
      .join("\n"),
  }).trim();
}

function listed(items: readonly Issue[]): string {
  return fenced(items.map((item) => `- ${wholeIssueText(item)}`).join("\n"));
}
