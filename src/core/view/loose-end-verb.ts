// A way to settle a loose end: the verb, its effect in a sentence, its command, and the same act for doors that have buttons.

import type { WaitingMerge } from "../run/waiting-merge.ts";
import type { Landed } from "../ticket/landed.ts";
import type { TicketStatus } from "../ticket/status.ts";
import type { RunEnd } from "./run-end.ts";

export type LooseEndVerb = {
  /** One or two words: retry, merge, open. */
  readonly verb: string;
  /** Its effect, in a sentence. */
  readonly effect: string;
  /** Exactly what to type; an address for `open`. */
  readonly command: string;
  readonly act: LooseEndAct;
};

export type LooseEndAct =
  /** Acts on the run. */
  | { readonly do: "retry" | "retry-with" | "skip"; readonly stage: string }
  | { readonly do: "cancel" | "merge" | "propose" | "discard" | "confirm-merge" }
  /** Changes the status of the ticket. */
  | { readonly do: "move"; readonly to: TicketStatus }
  /** Leads to an address outside. */
  | { readonly do: "open"; readonly url: string }
  /** Leads to where it can be seen. */
  | {
      readonly do: "show";
      readonly what: "run" | "changes" | "ticket" | "tickets" | "flow" | "trust";
      readonly name: string;
    }
  /** Only a terminal or an editor does it. */
  | { readonly do: "type" };

/** The words of an escalation. There is nothing to accept of a stage whose agent could not be started. */
export function stoppedVerbs(
  number: number,
  stage: string,
  { named, neverBegan }: { readonly named: string; readonly neverBegan: boolean },
): readonly LooseEndVerb[] {
  const accept: LooseEndVerb = {
    verb: "accept",
    effect: `The run continues without ${stage}. Your reason is recorded.`,
    command: `passrail runs skip ${number}${named} --reason "…"`,
    act: { do: "skip", stage },
  };
  return [
    {
      verb: "again",
      effect: `Runs ${stage} again in a new attempt.`,
      command: `passrail runs retry ${number}${named}`,
      act: { do: "retry", stage },
    },
    {
      verb: "again with another agent",
      effect: `Runs ${stage} again with another program, which plays it for the rest of the run.`,
      command: `passrail runs retry ${number}${named} --agent ${stage}=RUNNER`,
      act: { do: "retry-with", stage },
    },
    ...(neverBegan ? [] : [accept]),
    cancelRun(number),
    {
      verb: "show",
      effect: "Shows the run.",
      command: `passrail runs show ${number}`,
      act: { do: "show", what: "run", name: String(number) },
    },
  ];
}

export function proposedVerbs(
  number: number,
  ticket: string,
  { stage }: WaitingMerge,
  landed: Landed | undefined,
): readonly LooseEndVerb[] {
  const url = landed?.pr?.url ?? null;
  return [
    ...(url === null
      ? []
      : [{ verb: "open", effect: "Opens the pull request.", command: url, act: { do: "open", url } } as const]),
    {
      verb: "merged",
      effect: `Looks whether ${landed?.target ?? "the target"} holds the work, and ends ${stage} if it does.`,
      command: `passrail done ${ticket}`,
      act: { do: "confirm-merge" },
    },
    { ...cancelRun(number), effect: "Ends the run. Its branch stays, and its pull request stays open." },
  ];
}

/** The commands of the run's end, with what each does. */
export function unmergedVerbs(number: number, end: RunEnd): readonly LooseEndVerb[] {
  return end.commands.map(({ act, command }) => ({ command, ...endVerb(number, act, end.branch ?? "its branch") }));
}

function endVerb(
  number: number,
  act: RunEnd["commands"][number]["act"],
  branch: string,
): Pick<LooseEndVerb, "verb" | "effect" | "act"> {
  switch (act) {
    case "merge":
      return {
        verb: "merge",
        effect: `Starts a run that merges ${branch} into the target branch, after the checks of merge.checks.`,
        act: { do: "merge" },
      };
    case "pull-request":
      return {
        verb: "pull request",
        effect: `Starts a run that pushes ${branch}, opens a pull request and waits for its merge. Nothing is merged.`,
        act: { do: "propose" },
      };
    case "discard":
      return {
        verb: "discard",
        effect: `Removes ${branch}. A ref keeps its commits, and passrail undo brings the branch back.`,
        act: { do: "discard" },
      };
    case "look":
      return {
        verb: "look",
        effect: "Shows the changes.",
        act: { do: "show", what: "changes", name: String(number) },
      };
    case "restore":
    case "commit":
      return { verb: act, effect: "", act: { do: "type" } };
  }
}

export function blockedVerbs(id: string): readonly LooseEndVerb[] {
  return [
    {
      verb: "move",
      effect: `${id} can start at implement as soon as a slot is free.`,
      command: `passrail ticket move ${id} "Needs Implement"`,
      act: { do: "move", to: "Needs Implement" },
    },
    {
      verb: "cancel",
      effect: `Ends ${id}. Tickets that depend on it no longer wait for it.`,
      command: `passrail ticket move ${id} Canceled`,
      act: { do: "move", to: "Canceled" },
    },
    {
      verb: "explain",
      effect: "Shows the ticket and why it waits.",
      command: `passrail explain ${id}`,
      act: { do: "show", what: "ticket", name: id },
    },
  ];
}

/** `id`: absent for a file that is no ticket yet. */
export function brokenTicketVerbs(path: string, id: string | undefined): readonly LooseEndVerb[] {
  return [
    {
      verb: "check",
      effect: "Shows the fault with its line.",
      command: id === undefined ? "passrail ticket list" : `passrail explain ${id}`,
      act: id === undefined ? { do: "show", what: "tickets", name: path } : { do: "show", what: "ticket", name: id },
    },
    { verb: "edit", effect: "Open this file in an editor.", command: path, act: { do: "type" } },
  ];
}

/** A flow's page shows its file with the faults beside their lines. */
export function brokenCatalogVerbs(path: string): readonly LooseEndVerb[] {
  const [, flow] = /^\.passrail\/flows\/([\w-]+)\.ya?ml$/u.exec(path) ?? [];
  return [
    {
      verb: "check",
      effect: "Shows the fault with its line.",
      command: "passrail flow check",
      act: flow === undefined ? { do: "type" } : { do: "show", what: "flow", name: flow },
    },
    { verb: "edit", effect: "Open this file in an editor.", command: path, act: { do: "type" } },
  ];
}

export const TRUST_VERBS: readonly LooseEndVerb[] = [
  {
    verb: "look",
    effect: "Shows every changed line, and the button that approves this version.",
    command: "passrail trust --diff",
    act: { do: "show", what: "trust", name: "" },
  },
  {
    verb: "approve",
    effect: "Approves what you have looked at.",
    command: "passrail trust --yes",
    act: { do: "type" },
  },
];

function cancelRun(number: number): LooseEndVerb {
  return {
    verb: "cancel",
    effect: "Ends the run. Its branch and its records stay.",
    command: `passrail runs cancel ${number} --reason "…"`,
    act: { do: "cancel" },
  };
}
