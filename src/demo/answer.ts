// The demo answers any version of an item and gives no reason, as a person at the terminal may.

import type { AnswerRequest } from "../app/answer-item.ts";

export const ANYTHING_GOES: Pick<AnswerRequest, "seen" | "rules"> = {
  seen: { type: "anything" },
  rules: { needsReason: false, maxChars: null },
};
