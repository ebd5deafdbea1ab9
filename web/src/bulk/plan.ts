// The effect of an act on each of many things: its calls, or the reason why it does nothing there. Decided from the
// acts that the daemon allows for each run and from the loose ends, so that the summary before the act is the daemon's
// own.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import { runOfTicket, whyNot } from "../../../src/http/contract/ticket-moves.ts";
import type { TicketStatus } from "../../../src/core/ticket/status.ts";
import { type Act, commandOf, WORDING } from "../run/acts.ts";
import type { SettleVerb } from "../settle/acts.ts";
import type { OnRun } from "../settle/settle.ts";
import type { BulkDeed } from "./deed.ts";

export const BULK_VERBS = [
  "start",
  "pause",
  "resume",
  "retry",
  "merge",
  "propose",
  "discard",
  "later",
  "cancel",
] as const;
export type BulkVerb = (typeof BULK_VERBS)[number];

export const BULK_WORDS: Readonly<Record<BulkVerb, string>> = {
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  retry: "Retry",
  merge: "Merge",
  propose: "Pull request",
  discard: "Discard",
  later: "Later",
  cancel: "Cancel",
};

/** One of the selected things. */
export type BulkSubject = {
  readonly key: string;
  readonly title: string;
  readonly run: { readonly id: string; readonly number: number } | null;
  readonly runStatus: string | null;
  readonly file: {
    readonly ticket: string;
    readonly status: TicketStatus;
    readonly version: string;
    readonly canStart: boolean;
    readonly why: string;
  } | null;
  /** Loose ends, which wait without a question of a stage. */
  readonly end: AnswerTo<"listInbox">["looseEnds"][number] | undefined;
  /** The inbox items that it waits for. */
  readonly items: readonly string[];
};

export type Planned = {
  readonly key: string;
  readonly title: string;
  /** Its id beside its title: #12, AGI-7. */
  readonly name: string;
  /** Empty if nothing happens to it. */
  readonly deeds: readonly BulkDeed[];
  /** What will happen, or the reason why nothing does. */
  readonly text: string;
  /** The same in a terminal; empty if there is no such command. */
  readonly command: string;
};

/** `acts`: the acts that each run allows now, by its id. `until`: for entries that a person hides. */
export function planFor(
  verb: BulkVerb,
  subject: BulkSubject,
  acts: ReadonlyMap<string, readonly Act[]>,
  until: string,
): Planned {
  const { key, title, run, file } = subject;
  const name = run === null ? (file?.ticket ?? "") : `#${run.number}`;
  return { key, title, name, ...outcomeOf(verb, subject, acts, until) };
}

type Outcome = Pick<Planned, "deeds" | "text" | "command">;

function outcomeOf(
  verb: BulkVerb,
  subject: BulkSubject,
  acts: ReadonlyMap<string, readonly Act[]>,
  until: string,
): Outcome {
  switch (verb) {
    case "start":
      return start(subject);
    case "pause":
    case "resume":
    case "retry":
      return onRun(verb, subject, acts);
    case "cancel":
      return subject.run !== null && isOpen(subject.runStatus) ? onRun(verb, subject, acts) : cancelFile(subject);
    case "merge":
    case "propose":
    case "discard":
      return onEnd(verb, subject);
    case "later":
      return later(subject, until);
  }
}

const nothing = (text: string): Outcome => ({ deeds: [], text, command: "" });

function start({ file }: BulkSubject): Outcome {
  if (file === null) return nothing("It has no ticket file, so there is nothing to start.");
  if (!file.canStart) return nothing(sentence(file.why));
  return {
    deeds: [{ do: "start", ticket: file.ticket }],
    text: "Starts its run now, before its turn.",
    command: "passrail work",
  };
}

function onRun(
  verb: "pause" | "resume" | "retry" | "cancel",
  { run }: BulkSubject,
  acts: ReadonlyMap<string, readonly Act[]>,
): Outcome {
  if (run === null) return nothing("It has no run.");
  const own = acts.get(run.id);
  if (own === undefined) return nothing("What it allows is not known.");
  const meant = own.filter(({ act }) => act === verb);
  const possible = meant.filter(({ why }) => why === null);
  if (possible.length === 0) return nothing(sentence(meant[0]?.why ?? "it is not possible now"));
  const stages = possible.flatMap(({ stage }) => stage ?? []);
  const at = stages.length === 0 ? "" : ` (${stages.join(", ")})`;
  return {
    deeds: possible.map((act) => ({ do: "act", run, act: { act: act.act, stage: act.stage } })),
    text: `${WORDING[verb].about}${at}`,
    command: possible.map(({ stage }) => commandOf(verb, run.number, stage, "")).join("\n"),
  };
}

function isOpen(status: string | null): boolean {
  return status === "running" || status === "waiting" || status === "stopped";
}

/** A ticket without an open run is canceled by its status. */
function cancelFile({ file, runStatus, run }: BulkSubject): Outcome {
  if (file === null) return nothing(run === null ? "It has no run." : `The run is ${runStatus ?? "over"}.`);
  if (file.status === "Canceled") return nothing("It is canceled.");
  if (file.status === "Done") return nothing("It is done.");
  const why = whyNot(file.ticket, "Canceled", runOfTicket(runStatus));
  if (why !== null) return nothing(sentence(why));
  return {
    deeds: [{ do: "status", ticket: file.ticket, to: "Canceled", version: file.version }],
    text: "Ends the ticket. Tickets that depend on it no longer wait for it.",
    command: `passrail ticket move ${file.ticket} Canceled`,
  };
}

/** Land, propose or discard finished work: only where the daemon offers it. */
function onEnd(verb: "merge" | "propose" | "discard", { end, run }: BulkSubject): Outcome {
  const found = end?.verbs.find(({ act }) => act.do === verb);
  if (end === undefined || found === undefined || !isDeed(found)) {
    const waits = end?.verbs.some(({ act }) => act.do === "confirm-merge") === true;
    return nothing(waits ? "It waits for its merge elsewhere." : "It has no finished work that waits to be merged.");
  }
  const of = end.run ?? run;
  if (of === null) return nothing("It has no run.");
  const { effect: text, command, act } = found;
  return { deeds: [{ do: "settle", run: of, act }], text, command };
}

function isDeed(verb: SettleVerb): verb is SettleVerb & { readonly act: OnRun } {
  return verb.act.do === "merge" || verb.act.do === "propose" || verb.act.do === "discard";
}

function later({ items, end }: BulkSubject, until: string): Outcome {
  const entries = [...items, ...(end === undefined ? [] : [end.id])];
  if (entries.length === 0) return nothing("Nothing of it waits for you.");
  return {
    deeds: entries.map((entry) => ({ do: "snooze", entry, until })),
    text: "Hides it from your list until tomorrow at 8. It still waits.",
    command: "",
  };
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?]$/u.test(text) ? "" : "."}`;
}

/** The text that goes with it; null if it takes none. */
export function asksFor(verb: BulkVerb): string | null {
  if (verb === "pause" || verb === "cancel") return "Reason (optional, recorded)";
  return verb === "retry" ? "Note for the agents (optional)" : null;
}

export function isDangerous(verb: BulkVerb): boolean {
  return verb === "cancel" || verb === "discard";
}
