// Everything that needs a person, in one list: items of stages, loose ends, and programs that are logged out. Snoozed
// entries are apart until their time.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import { heldId } from "../settle/acts.ts";

type Inbox = AnswerTo<"listInbox">;
type Login = AnswerTo<"showNow">["logins"][number];
export type NeededItem = Inbox["items"][number];
export type NeededEnd = Inbox["looseEnds"][number];

export type Need =
  | { readonly is: "item"; readonly id: string; readonly since: string | null; readonly item: NeededItem }
  | { readonly is: "end"; readonly id: string; readonly since: string | null; readonly end: NeededEnd }
  | { readonly is: "login"; readonly id: string; readonly since: null; readonly login: Login };

export const KINDS = ["decide", "merge", "stopped", "tickets", "files", "accounts"] as const;
export type NeedKind = (typeof KINDS)[number];

/** On the buttons that filter. */
export const KIND_WORDS: Readonly<Record<NeedKind, string>> = {
  decide: "Decide",
  merge: "To merge",
  stopped: "Stopped",
  tickets: "Tickets",
  files: "Files",
  accounts: "Accounts",
};

export function kindOf(need: Need): NeedKind {
  if (need.is === "item") return "decide";
  if (need.is === "login") return "accounts";
  switch (need.end.kind) {
    case "merge":
      return "merge";
    case "stopped":
      return "stopped";
    case "blocked":
      return "tickets";
    case "file":
    case "trust":
      return "files";
  }
}

type Known = {
  readonly inbox: Pick<Inbox, "items" | "looseEnds"> | undefined;
  readonly now: Pick<AnswerTo<"showNow">, "logins" | "snoozed"> | undefined;
  /** Decided, and about to be sent. */
  readonly held?: readonly { readonly id: string }[];
};

export type Needs = { readonly open: readonly Need[]; readonly later: readonly Need[] };

export function needsOf({ inbox, now, held = [] }: Known, at: string): Needs {
  const decided = new Set(held.map(({ id }) => id));
  const asked = (inbox?.items ?? []).filter(({ id }) => !decided.has(id));
  const items = asked.map((item): Need => ({ is: "item", id: item.id, since: item.openedAt, item }));
  const open = (inbox?.looseEnds ?? []).filter((end) => !decided.has(heldId(end)));
  const ends = open.map((end): Need => ({ is: "end", id: end.id, since: end.since, end }));
  const logins = (now?.logins ?? []).map(
    (login): Need => ({ is: "login", id: `login:${login.runner}`, since: null, login }),
  );
  const hidden = new Set((now?.snoozed ?? []).filter(({ until }) => until > at).map(({ id }) => id));
  // Obstacles to all starts come first, then items that a run waits for.
  const all = [
    ...logins,
    ...ends.filter(isTrust),
    ...items.toSorted(older),
    ...ends.filter((end) => !isTrust(end)).toSorted(older),
  ];
  return { open: all.filter(({ id }) => !hidden.has(id)), later: all.filter(({ id }) => hidden.has(id)) };
}

function isTrust(need: Need): boolean {
  return need.is === "end" && need.end.kind === "trust";
}

/** Entries without a time come last. */
function older(one: Need, other: Need): number {
  return (one.since ?? "9").localeCompare(other.since ?? "9") || (one.id < other.id ? -1 : 1);
}

/** How many of each kind; kinds without any are left out. */
export function countKinds(needs: readonly Need[]): readonly (readonly [NeedKind, number])[] {
  return KINDS.map((kind) => [kind, needs.filter((need) => kindOf(need) === kind).length] as const).filter(
    ([, count]) => count > 0,
  );
}
