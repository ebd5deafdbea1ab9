// The 18 words that a ticket's status can be (source 004), and what they mean for whoever picks tickets and shows them.
// The order of stages is the flow's (flows/ticket.yaml); a test keeps the two the same. Nothing here moves a run.

export const TICKET_STATUSES = [
  "Backlog",
  "Needs Research",
  "Research In Progress",
  "Needs Spec",
  "Spec In Progress",
  "Needs Plan",
  "Plan In Progress",
  "Needs Implement",
  "Implement In Progress",
  "Needs Validate",
  "Validate In Progress",
  "Oneshot In Progress",
  "Blocked",
  "Needs Human Review",
  "Needs Human Decision",
  "Awaiting Merge",
  "Done",
  "Canceled",
] as const;

export type TicketStatus = (typeof TICKET_STATUSES)[number];
export type ActionableStatus = Extract<
  TicketStatus,
  "Backlog" | "Needs Research" | "Needs Spec" | "Needs Plan" | "Needs Implement" | "Needs Validate"
>;
/** Where a ticket in the backlog begins: the five stages, or all of it in one. */
export type BacklogEntry = "research" | "oneshot";

/** The prompt of each status that can be picked up. */
export const stagePromptMap: Readonly<Record<ActionableStatus, string>> = {
  Backlog: "agent2-worker-research",
  "Needs Research": "agent2-worker-research",
  "Needs Spec": "agent2-worker-spec",
  "Needs Plan": "agent2-worker-plan",
  "Needs Implement": "agent2-worker-implement",
  "Needs Validate": "agent2-worker-validate",
};

const IN_PROGRESS: Readonly<Record<Exclude<ActionableStatus, "Backlog">, TicketStatus>> = {
  "Needs Research": "Research In Progress",
  "Needs Spec": "Spec In Progress",
  "Needs Plan": "Plan In Progress",
  "Needs Implement": "Implement In Progress",
  "Needs Validate": "Validate In Progress",
};

const NEXT: Readonly<Partial<Record<TicketStatus, TicketStatus>>> = {
  "Research In Progress": "Needs Spec",
  "Spec In Progress": "Needs Plan",
  "Plan In Progress": "Needs Implement",
  "Implement In Progress": "Needs Validate",
  "Validate In Progress": "Done",
  "Oneshot In Progress": "Done",
};

const INTERVENTION: ReadonlySet<TicketStatus> = new Set(["Blocked", "Needs Human Review", "Needs Human Decision"]);
const TERMINAL_STAGE: ReadonlySet<TicketStatus> = new Set(["Needs Validate", "Validate In Progress"]);

export function isTicketStatus(word: string): word is TicketStatus {
  return (TICKET_STATUSES as readonly string[]).includes(word);
}

/** A stage can start from here. Decided by the table: "Needs Human …" begins with Needs and is not actionable. */
export function isActionable(status: TicketStatus): status is ActionableStatus {
  return Object.hasOwn(stagePromptMap, status);
}

/** The word while the stage works. Throws for a status from which nothing starts. */
export function inProgressStatus(status: TicketStatus, entry: BacklogEntry = "research"): TicketStatus {
  if (!isActionable(status)) throw new Error(`no stage starts from the status "${status}"`);
  if (status !== "Backlog") return IN_PROGRESS[status];
  return entry === "oneshot" ? "Oneshot In Progress" : "Research In Progress";
}

/** The word after the stage passed. Throws for a status in which no stage works. */
export function nextStatus(status: TicketStatus): TicketStatus {
  const next = NEXT[status];
  if (next === undefined) throw new Error(`no stage works in the status "${status}"`);
  return next;
}

/** The last stage before the ticket is done. */
export function isTerminalStage(status: TicketStatus): boolean {
  return TERMINAL_STAGE.has(status);
}

/** A person has to act before anything goes on. */
export function isIntervention(status: TicketStatus): boolean {
  return INTERVENTION.has(status);
}

/** Why a ticket in this status cannot start, for a word that is none of the 18 (a typo must not start an agent). */
export function unknownStatusMessage(word: string): string {
  return `"${word}" is not a ticket status; the statuses are ${TICKET_STATUSES.join(", ")}`;
}
