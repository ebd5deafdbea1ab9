// Composes the prompt of an attempt. The flow names its parts, most static first, so that vendors' prompt caches can reuse the beginning;
// nothing before the handoff part depends on time, attempt or chance. Text that others wrote is put into marked blocks.

import { runFacts } from "../run/facts.ts";
import type { ResolvedFlow } from "../flow/agent.ts";
import { MAIN_TRACK, type ResultSpec, type WorkStage } from "../flow/flow.ts";
import { type Issue, issueText } from "../flow/outcome.ts";
import { type DeveloperTrust, trustText } from "../run/trust.ts";
import { counterKey } from "../run/counting.ts";
import type { Carry, Run } from "../run/run.ts";
import { isWork } from "../run/sequence.ts";
import { fillPrompt } from "../flow/template.ts";

/** What the engine adds to the run for one attempt. */
export type PromptFacts = {
  readonly nonce: string;
  readonly verdictFile: string;
  readonly handoffFile: string;
  readonly url: string;
  readonly branch: string;
  /** Earlier attempts that ended, oldest first: what each handed on. */
  readonly earlier: readonly EarlierHandoff[];
  /** Rounds of questions of this stage before the one that its carry brings. */
  readonly answers: readonly EarlierAnswer[];
  /** Whether the quality gates of those who built are trusted; empty for stages that the flow does not ask this of. */
  readonly trust: readonly DeveloperTrust[];
  /** Texts of files that the flow names: bundles, carried files. */
  readonly files: Readonly<Record<string, string>>;
  readonly diffRange: string;
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

export function composePrompt(context: PromptContext): string {
  const { stage } = context;
  const names =
    stage.promptFile === undefined
      ? stage.prompt
      : ["agent", "prompt-file", "handoffs", "output-format", "revision-context"];
  const parts = names.map((name) => PARTS[name]?.(context) ?? "");
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** For an agent that goes on in its own session: only what is new since it was last asked. */
export function composeResumed(context: PromptContext): string {
  const parts = ["Go on with your work on this ticket.", revisionContext(context), outputFormat(context)];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
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
    facts.files["spec"] === undefined ? ticketText({ run }) : block("Specification", facts.files["spec"]),
  task: ({ facts }) => (facts.files["task"] === undefined ? "" : block("Task", facts.files["task"])),
  handoffs: ({ facts }) => handoffsText(latestOf(facts.earlier)),
  "previous-handoff": previousHandoffs,
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
  return fillPrompt(parts.join("\n\n"), {
    USER_REQUEST: run.subject.body === "" ? run.subject.title : run.subject.body,
    TASK_ID: run.subject.id,
    TASK_TITLE: run.subject.title,
    TASK_DESCRIPTION: run.subject.body,
    BRANCH_NAME: facts.branch,
    REPO: runFacts(run).ticket.repo ?? "",
    STAGE: stage.id,
  }).trim();
}

function mergeFragment({ resolved, run }: PromptContext): string {
  const { merge } = resolved.flow;
  if (merge === undefined) return "";
  const mode = runFacts(run).config.mergeMode || merge.default;
  return (resolved.prompts[`fragments/${merge.fragments[mode] ?? ""}`] ?? "").trim();
}

function ticketText({ run }: Pick<PromptContext, "run">): string {
  return block(`Ticket ${run.subject.id}: ${run.subject.title}`, run.subject.body);
}

/** What each stage said last: a prompt must not grow with the number of loops. */
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
    const isJoin = each.kind === "parallel" && each.id === carry.from;
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
  const lines = [stage.instruction ?? `Do the work of the stage "${stage.title ?? stage.id}" now.`];
  if (stage.reads.length > 0) lines.push(`Read, in this order: ${stage.reads.join(", ")}.`);
  if (stage.writes.length > 0) lines.push(`Write: ${stage.writes.join(", ")}.`);
  if (stage.produces.length > 0) lines.push(`Your handoff must contain: ${stage.produces.join(", ")}.`);
  if (facts.diffRange !== "" && stage.reads.includes("git-diff"))
    lines.push(`The changes to review: git diff ${facts.diffRange}`);
  for (const name of stage.inline) {
    const text = facts.files[`inline-${name}`];
    if (text !== undefined) lines.push(text.trim());
  }
  if (stage.reads.includes("task")) lines.push(`The original task: ${run.subject.title}`);
  // A router has no hands: what it is to read is put before it.
  for (const name of stage.kind === "router" ? stage.reads : []) {
    const text = facts.files[name];
    if (text !== undefined) lines.push(block(`File ${name}`, text));
  }
  if (stage.gates !== undefined) lines.push(trustText(stage.gates, facts.trust));
  const counter = Object.values(stage.route).find((route) => route.counter !== undefined)?.counter;
  const { loop, max } = shownLoop(context);
  if (counter !== undefined && max !== null) lines.push(`This is ${counter} iteration ${loop + 1} of max ${max + 1}.`);
  return lines.join("\n");
}

/** Loop number and earlier issues when the work came back; what a person said; nothing at all the first time. */
function revisionContext(context: PromptContext): string {
  const { carry, stage, resolved } = context;
  const { loop, max } = shownLoop(context);
  const lines: string[] = [];
  if (loop > 0) lines.push(`This is revision loop ${loop}${max === null ? "" : ` of ${max}`}.`);
  else if (carry.reason === "again" && max !== null)
    lines.push(`A person asked for this attempt; 0 of ${max} revision loops are used.`);
  const names = new Set([...carry.names, ...(carry.reason === "sent-back" ? stage.carryOnRetry : [])]);
  const files = [...names].flatMap((name) =>
    context.facts.files[name] === undefined ? [] : [{ name, text: context.facts.files[name] }],
  );
  // What stands in a carried file is not said a second time.
  const issues = carry.issues.filter((issue) => !files.some(({ text }) => text.includes(issueText(issue).trim())));
  if (issues.length > 0) lines.push("Issues to resolve, as they were reported:", ...issues.map(listItem));
  for (const { questions, answer } of context.facts.answers)
    lines.push("Asked before:", ...questions.map(listItem), block("Answer of the person then", answer));
  if (carry.questions.length > 0 && carry.reason === "answered")
    lines.push("Questions that were asked:", ...carry.questions.map(listItem));
  if (carry.said !== undefined)
    lines.push(block(carry.reason === "answered" ? "Answer of the person" : "Note of the person", carry.said));
  for (const { name, text } of files) lines.push(block(`File ${name}`, text));
  if (carry.names.includes("format-reminder")) lines.push((resolved.prompts["fragments/output-prefix"] ?? "").trim());
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
  const name = Object.values(stage.route).find((route) => route.counter !== undefined)?.counter;
  const counter = name === undefined ? undefined : resolved.flow.counters[name];
  if (name === undefined || counter === undefined) return { loop: carry.loop, max: carry.loopMax };
  return { loop: run.counters[counterKey(counter, name, track)]?.loops ?? 0, max: counter.maxLoops };
}

const FRAGMENT_OF: Readonly<Record<ResultSpec["from"], string>> = {
  "json-tail": "output-json-tail",
  "file-verdict": "output-file-verdict",
  "handoff-file": "output-handoff-file",
  "handoff-api": "output-handoff-api",
  prefix: "",
  "exit-code": "",
  "work-result": "",
  "verdict-file": "output-verdict-file",
  router: "output-router",
};

function outputFormat(context: PromptContext): string {
  const own = ownForm(context);
  if (context.facts.submits !== true) return own;
  return own === ""
    ? submitForm(context)
    : `${submitForm(context)}\n\nIf the tool is not there, end as follows.\n\n${own}`;
}

function submitForm({ resolved, stage }: PromptContext): string {
  const words = (stage.verdicts ?? Object.keys(resolved.flow.words.verdict)).join(" | ");
  const field =
    stage.kind === "router"
      ? "`stages`: the agents in the order in which they work."
      : stage.expectsVerdict
        ? `\`verdict\`: exactly one of these words, spelled so: ${words}.`
        : "`verdict`: leave it out; nobody asks you to judge here.";
  return fillPrompt(resolved.prompts["fragments/output-submit"] ?? "", { FIRST_FIELD: field }).trim();
}

function ownForm(context: PromptContext): string {
  const { resolved, run, stage, facts } = context;
  const form = stage.result.next === undefined ? FRAGMENT_OF[stage.result.from] : "output-work-result";
  const text = resolved.prompts[`fragments/${form}`];
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
    PATH:
      stage.result.from === "handoff-file"
        ? facts.handoffFile
        : stage.result.from === "file-verdict"
          ? (stage.result.path ?? "")
          : facts.verdictFile,
    DASHBOARD_URL: facts.url,
    BRANCH: facts.branch,
    BRANCH_NAME: facts.branch,
    AGENTS: Object.values(resolved.agents)
      .map(
        (agent) =>
          `- ${agent.name}: ${agent.description}${agent.skills.length === 0 ? "" : ` (skills: ${agent.skills.join(", ")})`}`,
      )
      .join("\n"),
  }).trim();
}

/** Text that others wrote, with a fence longer than any it contains, so that it cannot close its own block. */
function block(title: string, text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return `## ${title}`;
  let fence = "```";
  while (trimmed.includes(fence)) fence += "`";
  return `## ${title}\n${fence}text\n${trimmed}\n${fence}`;
}

function listItem(item: Issue): string {
  return `- ${issueText(item)}`;
}
