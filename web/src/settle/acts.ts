// The acts that settle a loose end: their names, and what each asks for.

import type { AnswerTo } from "../../../src/http/client/input.ts";

type LooseEnd = AnswerTo<"listInbox">["looseEnds"][number];
export type SettleVerb = LooseEnd["verbs"][number];
type Act = SettleVerb["act"];

/** Acts that a button carries out here; the others lead somewhere or need a terminal. */
export type Doing = Exclude<Act, { do: "open" | "show" | "type" }>;

export type About = {
  readonly run: { readonly id: string; readonly number: number } | null;
  readonly ticket: string | null;
};

/** The name of an act about it that can still be taken back: one at a time. */
export function heldId({ run, ticket }: About): string {
  return run === null ? `ticket ${ticket ?? ""}` : `run ${run.id}`;
}

export function isDoing(act: Act): act is Doing {
  return act.do !== "open" && act.do !== "show" && act.do !== "type";
}

/** Why this login can do nothing; undefined while it is not known. */
export function mayNot(who: Pick<AnswerTo<"whoami">, "scopes"> | undefined): string | undefined {
  return who === undefined || who.scopes.includes("operate") ? undefined : "This login may only look.";
}

/** The text that goes with the act. */
export type Asks = { readonly label: string; readonly isNeeded: boolean } | null;

export function asksFor(act: Doing): Asks {
  switch (act.do) {
    case "retry":
    case "retry-with":
      return { label: "Note for the agent (optional)", isNeeded: false };
    case "skip":
      return { label: "Reason (required, recorded)", isNeeded: true };
    case "cancel":
      return { label: "Reason (optional, recorded)", isNeeded: false };
    case "merge":
    case "propose":
    case "discard":
    case "confirm-merge":
    case "move":
      return null;
  }
}

export function isDangerous(act: Doing): boolean {
  return (
    act.do === "cancel" || act.do === "discard" || act.do === "skip" || (act.do === "move" && act.to === "Canceled")
  );
}

/** On the button: "Retry", "Pull request". */
export function nameOf({ verb, act }: Pick<SettleVerb, "verb" | "act">): string {
  if (act.do === "move" && act.to !== "Canceled") return `Move to ${act.to}`;
  return `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)}`;
}
