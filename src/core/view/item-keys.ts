// The keys by which a person answers an item at the terminal, one per answer that the item offers.

import { answersOf, type InboxItem } from "../run/run.ts";
import { gateVerb } from "./item-text.ts";

export type ItemKey = {
  readonly key: string;
  readonly about: string;
  readonly does:
    | { readonly type: "answer"; readonly answer: string; readonly note: "required" | "optional" | "none" }
    | { readonly type: "diff" }
    | { readonly type: "later" };
};

const KEYS: Readonly<Record<string, string>> = {
  approve: "y",
  raise: "y",
  decline: "n",
  reject: "n",
  stop: "n",
  revise: "r",
};

/** Not for a question: that is answered with a text. */
export function keysOf(item: InboxItem): readonly ItemKey[] {
  const taken = new Set(["d", "l"]);
  const answers = answersOf(item).map((answer, index): ItemKey => {
    const wanted = KEYS[answer] ?? String(index + 1);
    const key = taken.has(wanted) ? String(index + 1) : wanted;
    taken.add(key);
    return {
      key,
      about: item.kind === "gate" ? gateVerb(answer) : answer,
      does: { type: "answer", answer, note: noteOf(item, answer) },
    };
  });
  return [
    ...answers,
    { key: "d", about: "diff", does: { type: "diff" } },
    { key: "l", about: "later", does: { type: "later" } },
  ];
}

/** By its key, the word that is shown or the flow's own; undefined for anything else, also for nothing: no answer is a default. */
export function chosenKey(keys: readonly ItemKey[], typed: string): ItemKey | undefined {
  const said = typed.trim().toLowerCase();
  if (said === "") return undefined;
  return keys.find((each) => namesOf(each).includes(said)) ?? byUsualWord(keys, said);
}

function namesOf({ key, about, does }: ItemKey): readonly string[] {
  return [key, about.toLowerCase(), ...(does.type === "answer" ? [does.answer.toLowerCase()] : [])];
}

export function keysText(keys: readonly ItemKey[]): string {
  return keys.map(({ key, about }) => `${key} ${about}`).join(" · ");
}

function byUsualWord(keys: readonly ItemKey[], said: string): ItemKey | undefined {
  const usual = { yes: "y", no: "n" }[said];
  return usual === undefined ? undefined : keys.find(({ key }) => key === usual);
}

/** Without a reason the next attempt would not know what to change. */
function noteOf({ kind }: InboxItem, answer: string): "required" | "optional" | "none" {
  if (kind === "gate") return answer === "revise" ? "required" : "none";
  return kind === "escalation" ? "optional" : "none";
}
