// The 18 status words of a ticket (source 004) and their meanings. Only these tables name them in the code.
// The flow decides the order of stages and which tickets start (pick-rules.ts); a test compares flows/ticket.yaml with these tables.

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
/** How a ticket in the backlog begins: with the five stages, or with one for all of it. */
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

/** The status of a new ticket. */
export const FIRST_STATUS: TicketStatus = "Backlog";
/** The status by which a person ends a ticket's run, even while an attempt works. */
export const CANCELED_STATUS: TicketStatus = "Canceled";

const ENDED: ReadonlySet<TicketStatus> = new Set(["Done", CANCELED_STATUS]);
const AWAITING_MERGE: TicketStatus = "Awaiting Merge";
const FINISHED: ReadonlySet<TicketStatus> = new Set(["Done", AWAITING_MERGE]);
const INTERVENTION: ReadonlySet<TicketStatus> = new Set(["Blocked", "Needs Human Review", "Needs Human Decision"]);
const TERMINAL_STAGE: ReadonlySet<TicketStatus> = new Set(["Needs Validate", "Validate In Progress"]);

export function isTicketStatus(word: string): word is TicketStatus {
  return (TICKET_STATUSES as readonly string[]).includes(word);
}

/** A stage of source 004 starts from here. The table decides: "Needs Human …" begins with Needs and is not actionable. */
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

/** No run works on the ticket any more. */
export function isOver(status: TicketStatus): boolean {
  return ENDED.has(status);
}

/** Its pull request is open. */
export function isAwaitingMerge(status: TicketStatus): boolean {
  return status === AWAITING_MERGE;
}

/** Its branch holds finished work that other tickets can build on. */
export function hasFinishedWork(status: TicketStatus): boolean {
  return FINISHED.has(status);
}

/** A person has to act before the ticket continues. */
export function isIntervention(status: TicketStatus): boolean {
  return INTERVENTION.has(status);
}

/** Why a ticket cannot start with a word that is none of the 18 (a typo must not start an agent). */
export function unknownStatusMessage(word: string): string {
  return `"${word}" is not a ticket status; the statuses are ${TICKET_STATUSES.join(", ")}`;
}
