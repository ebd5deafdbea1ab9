// The demo answers whatever it sees, as a person at the terminal may.

import type { AnswerRequest } from "../app/answer-item.ts";

export const ANYTHING_GOES: Pick<AnswerRequest, "seen" | "rules"> = {
  seen: { type: "anything" },
  rules: { needsReason: false, maxChars: null },
};
