// Sends a decision that could be undone until now, and reports the result.

import { queryClient } from "../base/queries.ts";
import { toast } from "../ui/toast.ts";
import { clearDraft } from "./draft.ts";
import type { HeldAct } from "../settle/held.ts";
import type { WaitingItem } from "./types.ts";
import { type AnswerOutcome, type Given, sendAnswer, takenText } from "./use-answer.ts";

/** `version`: the one that the person saw. */
export function heldAnswer(item: WaitingItem, version: string, given: Given): HeldAct {
  const { title } = item.subject;
  return {
    id: item.id,
    title,
    done: given.done,
    place: { is: "item", item: item.id },
    send: (isLeaving) => void send(item, version, given, isLeaving),
  };
}

async function send(item: WaitingItem, version: string, given: Given, isLeaving: boolean): Promise<void> {
  const outcome = await sendAnswer(item, version, given, isLeaving);
  if (outcome.type === "taken") clearDraft(item.id);
  tell(outcome, item.subject.title, given.done);
  for (const queryKey of [["inbox"], ["item", item.id], ["run", item.runId], ["decisions"]])
    void queryClient.invalidateQueries({ queryKey });
}

function tell(outcome: AnswerOutcome, title: string, done: string): void {
  switch (outcome.type) {
    case "taken":
      return toast(takenText(outcome, done, title));
    case "late":
      return toast(`Another person has already decided this: ${title}`, "warning");
    case "moved":
      return toast(`Not sent, because it changed after you looked at it: ${title}`, "bad");
    case "failed": {
      const why = outcome.error instanceof Error ? outcome.error.message : "Something went wrong.";
      return toast(`Not sent: ${title}. ${why}`, "bad");
    }
  }
}
