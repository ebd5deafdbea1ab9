// Sends a decision with the version that the person saw, and reports the outcome: taken, too late, or changed meanwhile.

import { useMutation } from "@tanstack/react-query";
import { ApiError, call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import type { issueOf } from "../diff/comments.ts";
import { toast } from "../ui/toast.ts";
import type { Changed, Decided, WaitingItem } from "./types.ts";

export type Given = {
  readonly answer: string;
  readonly text: string;
  readonly issues: readonly ReturnType<typeof issueOf>[];
  /** The message afterwards: "Approved". */
  readonly done: string;
};

export type AnswerOutcome =
  /** `inPlace`: it reached the agent while it worked. */
  | { readonly type: "taken"; readonly inPlace: boolean }
  /** Another person has decided already. */
  | { readonly type: "late"; readonly decided: Decided | undefined; readonly detail: string }
  | { readonly type: "moved"; readonly changed: Changed }
  | { readonly type: "failed"; readonly error: unknown };

export function useAnswer(item: Pick<WaitingItem, "id" | "runId" | "subject">, version: string) {
  return useMutation({
    mutationFn: (given: Given) => sendAnswer(item, version, given),
    onSuccess: (outcome, { done }) => {
      if (outcome.type === "taken") toast(takenText(outcome, done, item.subject.title));
      if (outcome.type === "late") toast("Another person has already decided this.", "warning");
      if (outcome.type === "failed") return;
      for (const queryKey of [["inbox"], ["item", item.id], ["run", item.runId], ["decisions"]])
        void queryClient.invalidateQueries({ queryKey });
    },
  });
}

/** `isLeaving`: the page is about to go, and the request must outlive it. */
export async function sendAnswer(
  item: Pick<WaitingItem, "id">,
  version: string,
  { answer, text, issues }: Given,
  isLeaving = false,
): Promise<AnswerOutcome> {
  try {
    const body = { answer, text, ...(issues.length === 0 ? {} : { issues: [...issues] }) };
    const { inPlace = false } = await call(
      "answerItem",
      { params: { item: item.id }, body },
      { ifMatch: version, keepalive: isLeaving },
    );
    return { type: "taken", inPlace };
  } catch (error) {
    return outcomeOf(error);
  }
}

export function takenText({ inPlace }: { readonly inPlace: boolean }, done: string, title: string): string {
  return `${done}${inPlace ? ", and it reached the agent while it worked" : ""}: ${title}`;
}

function outcomeOf(error: unknown): AnswerOutcome {
  if (!(error instanceof ApiError)) return { type: "failed", error };
  const { code, decided, changed = [], detail } = error.problem;
  if (code === "version_mismatch") return { type: "moved", changed };
  if (code === "gate_not_waiting" || code === "item_not_waiting") return { type: "late", decided, detail };
  return { type: "failed", error };
}
