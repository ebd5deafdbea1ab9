// The question of an open item and the commands that answer it, in words: the inbox, `work`, the report, the API and notices say the same.

import { overText } from "../budget/budget.ts";
import { reachedText } from "../budget/room.ts";
import { issueText } from "../flow/outcome.ts";
import { asksAtWork, type InboxItem } from "../run/run.ts";

/** The question of an item, line by line. */
export function askedBy(item: InboxItem): readonly string[] {
  if (item.kind === "escalation") return [item.reason, ...item.issues.map((issue) => `- ${issueText(issue)}`)];
  return asksAtWork(item) && item.live.isOver !== true ? [...asksOf(item), waitText(item.live.until)] : asksOf(item);
}

function waitText(until: string): string {
  return `The agent waits for the answer until ${until}; a later one goes to its next attempt.`;
}

/** Without the issues of an escalation, for readers that show these apart. */
export function asksOf(item: InboxItem): readonly string[] {
  switch (item.kind) {
    case "gate":
      return item.notes ?? [];
    case "question":
    case "choice":
      return item.questions;
    case "escalation":
      return [item.reason];
    case "budget":
      return [
        item.stopped === true ? `it was stopped in the middle of its work: ${reachedText(item)}` : overText(item),
      ];
  }
}

/** The exact commands that answer an item; `reference` is the item as people write it. */
export function answersTo(item: InboxItem, reference: string): readonly string[] {
  switch (item.kind) {
    case "gate": {
      const verbs = item.answers.map(gateVerb);
      return verbs.map((verb) => `passrail gate ${verb} ${reference}`);
    }
    case "question":
      return [`passrail ask answer ${reference} "…"`];
    case "choice":
      return Object.keys(item.choices).map((choice) => `passrail ask answer ${reference} --choice ${choice}`);
    case "escalation":
      return [
        ...Object.keys(item.choices).map((choice) => `passrail escalation choose ${reference} ${choice}`),
        `passrail runs retry ${reference.split(".")[0] ?? reference} --agent ${item.stage}=RUNNER`,
      ];
    case "budget":
      return [`passrail budget raise ${reference} --by ${raiseText(item)}`, `passrail budget stop ${reference}`];
  }
}

/** The suggested raise: the limit's own size, or more if that is not enough. */
function raiseText({ unit, size, used, needed, limit }: InboxItem & { kind: "budget" }): string {
  const missing = used + needed - limit;
  const amount = Math.max(size, unit === "usd" ? Math.ceil(missing * 100) / 100 : Math.ceil(missing));
  return unit === "usd" ? String(amount) : `"${amount} tokens"`;
}

/** The answer to a gate as people type it. */
export function gateVerb(answer: string): string {
  return answer === "decline" ? "reject" : answer;
}
