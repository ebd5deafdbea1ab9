// Derives the state of each agent of a story from its handoffs: done, at work, sent back.

import type { HandoffRowShown } from "../../../src/http/contract/schemas/handoff-row.ts";
import type { IconName } from "../base/status.ts";

export type Indicator = "done" | "active" | "pending" | "rejected";

export type AgentMark = {
  readonly agent: string;
  readonly is: Indicator;
  /** How often it worked in this passage. */
  readonly attempts: number;
  /** Why it last sent the story back, while that is its state. */
  readonly reason: string | null;
  /** It was handed the story and has not accepted it yet. */
  readonly isUntaken: boolean;
};

export type StoryAgents = {
  readonly agents: readonly string[];
  readonly entry: string | null;
  readonly exit: string | null;
};

export function storyPicture(
  { agents, entry, exit }: StoryAgents,
  all: readonly HandoffRowShown[],
  currentAgent: string | null,
): readonly AgentMark[] {
  const rows = lastPassage(all, entry, agents);
  const place = (agent: string | null): number =>
    agent === null || agent === exit ? agents.length : agents.indexOf(agent);
  const current = currentAgent === null ? agents.length : agents.indexOf(currentAgent);
  return agents.map((agent, index) => {
    const received = rows.filter((row) => row.to_agent === agent);
    const last = received.at(-1);
    const sent = rows.findLast((row) => row.from_agent === agent);
    const sentBack = sent !== undefined && place(sent.to_agent) < index;
    const refused =
      last?.status === "rejected" && (sent === undefined || sent.id < last.id || sentBack) ? last : undefined;
    const mark = { agent, attempts: received.length, reason: null, isUntaken: false };
    if (agent === currentAgent) return { ...mark, is: "active", isUntaken: last?.status === "pending" };
    if (refused !== undefined) return { ...mark, is: "rejected", reason: refused.rejection_reason };
    // Agents after the current one must work again, even if they were done before.
    const isDone = sent !== undefined && !sentBack && index < current;
    return { ...mark, is: isDone ? "done" : "pending" };
  });
}

/** A restarted story begins again: only rows after its last start count. */
function lastPassage(
  rows: readonly HandoffRowShown[],
  entry: string | null,
  [first]: readonly string[],
): readonly HandoffRowShown[] {
  const begin = rows.findLastIndex(
    (row) => row.to_agent === first && (row.from_agent === null || row.from_agent === entry),
  );
  return begin === -1 ? rows : rows.slice(begin);
}

/** How often the row's receiver had been handed the story by then, from 1: the attempt numbers of the history. */
export function attemptNumbers(rows: readonly HandoffRowShown[], entry: string | null): ReadonlyMap<number, number> {
  let counts = new Map<string, number>();
  const numbers = new Map<number, number>();
  for (const row of rows) {
    if (row.from_agent === null || row.from_agent === entry) counts = new Map();
    const to = row.to_agent ?? "";
    const count = (counts.get(to) ?? 0) + 1;
    counts.set(to, count);
    numbers.set(row.id, count);
  }
  return numbers;
}

export const INDICATORS: Readonly<
  Record<Indicator, { readonly icon: IconName; readonly word: string; readonly look: string }>
> = {
  done: { icon: "check", word: "Done", look: "border-good bg-good-soft text-good" },
  active: { icon: "working", word: "Working", look: "border-active bg-active-soft text-active" },
  pending: { icon: "circle", word: "Not yet", look: "border-line bg-panel text-muted" },
  rejected: { icon: "back", word: "Sent back", look: "border-warning bg-warning-soft text-warning" },
};
