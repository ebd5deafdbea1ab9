// The wording of an item: its question, its answers as buttons, and the consequence of each answer. Words of the flow stay unchanged; only
// the few answers that every gate has get fixed labels.

import type { IconName, Tone } from "../base/status.ts";
import type { Decided, WaitingItem, ItemKind, AnswerLead } from "./types.ts";

export const KINDS = {
  gate: { word: "Gate", icon: "gate", tone: "attention" },
  question: { word: "Question", icon: "question", tone: "active" },
  choice: { word: "Choice", icon: "choice", tone: "active" },
  escalation: { word: "Escalated", icon: "escalated", tone: "bad" },
  budget: { word: "Budget", icon: "budget", tone: "warning" },
} as const satisfies Readonly<Record<ItemKind, { word: string; icon: IconName; tone: Tone }>>;

type Asked = Pick<WaitingItem, "kind" | "stage" | "subject" | "asks">;

/** The exact question, in one sentence. */
export function questionOf({ kind, stage, subject, asks }: Asked): string {
  switch (kind) {
    case "gate":
      return `${spoken(stage)} “${subject.title}”?`;
    case "question":
    case "choice":
      return asks[0] ?? `${stage} has a question about “${subject.title}”.`;
    case "escalation":
      return `“${subject.title}” needs you at ${stage}: ${asks[0] ?? "it was escalated"}`;
    case "budget":
      return `“${subject.title}” does not start ${stage}: ${asks[0] ?? "it reached a budget"}`;
  }
}

/** The heading of the decision; the agent's text is below it. */
export function headOf(item: Asked): string {
  switch (item.kind) {
    case "gate":
      return questionOf(item);
    case "question":
      return `${item.stage} asks about “${item.subject.title}”`;
    case "choice":
      return `${item.stage} of “${item.subject.title}”: how to continue?`;
    case "escalation":
      return `${item.stage} of “${item.subject.title}” was escalated`;
    case "budget":
      return `“${item.subject.title}” has reached a budget`;
  }
}

export type Choice = {
  /** The value to send. */
  readonly answer: string;
  readonly label: string;
  readonly look: "primary" | "plain" | "danger";
  readonly needsReason: boolean;
  /** The past tense, for the message afterwards. */
  readonly done: string;
};

const KNOWN: Readonly<Record<string, Omit<Choice, "answer" | "needsReason">>> = {
  approve: { label: "Approve", look: "primary", done: "Approved" },
  revise: { label: "Request changes", look: "plain", done: "Sent back" },
  reject: { label: "Reject", look: "danger", done: "Rejected" },
  decline: { label: "Reject", look: "danger", done: "Rejected" },
};

/** The daemon requires a reason to send work back or to reject it. */
const NEEDS_REASON: ReadonlySet<string> = new Set(["revise", "reject", "decline"]);
const ORDER = ["approve", "revise"];

/** The answers of a gate, a choice or an escalation; those that end the run come last. */
export function choicesOf({
  kind,
  answers,
  leads,
}: Pick<WaitingItem, "kind" | "answers" | "leads">): readonly Choice[] {
  const isGate = kind === "gate";
  const choices = answers.map((answer): Choice => {
    const known = isGate ? KNOWN[answer] : undefined;
    const ends = leads.some((lead) => lead.answer === answer && (lead.to === "cancel" || lead.to === "stop"));
    const own = { label: spoken(answer), look: ends ? "danger" : "plain", done: `Answered ${answer}` } as const;
    return { answer, ...(known ?? own), needsReason: isGate && NEEDS_REASON.has(answer) };
  });
  return choices.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ answer, look }: Choice): number {
  const known = ORDER.indexOf(answer);
  if (known !== -1) return known;
  return look === "danger" ? ORDER.length + 1 : ORDER.length;
}

/** The next step after an answer; names the status if it changes. */
export function leadText({ to, who, isGate, word }: AnswerLead, before: string): string {
  const as = word === "" || word === before ? "" : `, as “${word}”`;
  switch (to) {
    case "end":
      return `the run is done${as}.`;
    case "cancel":
      return `the run is canceled${as === ", as “canceled”" ? "" : as}.`;
    case "stop":
      return `the run stops until a person resumes it${as}.`;
    default:
      if (isGate) return `${nameOf(who)} decides at ${to} next${as}.`;
      return who === "" || who === to ? `${to} is next${as}.` : `${who} works on ${to} next${as}.`;
  }
}

/** Where an approval brings the work; null if more follows, or where nothing is approved. */
export function approvalOf({ kind, leads }: Pick<WaitingItem, "kind" | "leads">): AnswerLead["lands"] {
  return kind === "gate" ? (leads.find(({ answer }) => answer === "approve")?.lands ?? null) : null;
}

/** The answer as on its button. */
export function labelOf({ answer }: Pick<AnswerLead, "answer">, kind: ItemKind): string {
  if (answer === "") return "Answered";
  return (kind === "gate" ? KNOWN[answer]?.label : undefined) ?? spoken(answer);
}

/** The name of a person or program without its prefix. */
export function nameOf(actor: string): string {
  return actor.replace(/^(?:human|agent):/u, "");
}

export function decidedText({ answer, text }: Pick<Decided, "answer" | "text">): string {
  if (answer === "") return text;
  return KNOWN[answer]?.done ?? `Answered ${answer}`;
}

/** `sign-off` → `Sign off`. */
function spoken(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ").trim();
  return words === "" ? name : `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`;
}
